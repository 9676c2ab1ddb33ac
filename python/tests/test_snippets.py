"""Python on our pages runs as it stands there."""

import importlib.util
import re

import pytest

from conftest import SOURCES

SNIPPET = re.compile(r"(?:<!-- needs ([^>]*?) -->\n)?```python\n(.*?)```", re.DOTALL)
PAGES = ["README.md", "docs/python.md"]


def snippets(page: str) -> list:
    """(modules it needs besides those of the tests, code, line)"""
    text = (SOURCES / page).read_text(encoding="utf-8")
    return [((found[1] or "").replace(",", " ").split(), found[2], text[:found.start(2)].count("\n"))
            for found in SNIPPET.finditer(text)]


@pytest.mark.parametrize("page", PAGES)
def test_snippets_run_in_order(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    # Snippets read as from the repository's folder and write elsewhere.
    for folder in ("examples", "models", "tests"):
        (tmp_path / folder).symlink_to(SOURCES / folder)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    found = snippets(page)
    assert found
    for needed, code, line in found:
        if all(importlib.util.find_spec(module) for module in needed):
            # Lines of a traceback are those of the page.
            exec(compile("\n" * line + code, page, "exec"), names)


def test_every_python_block_is_found():
    for page in PAGES:
        assert len(snippets(page)) == (SOURCES / page).read_text(encoding="utf-8").count("```python")


def test_other_pages_have_no_python_that_does_not_run():
    others = [path for path in SOURCES.glob("docs/*.md") if f"docs/{path.name}" not in PAGES]
    assert others and not [path.name for path in others if "```python" in path.read_text(encoding="utf-8")]
