"""Python and commands on our pages run as they stand there."""

import importlib.util
import re
import shlex

import pytest

from conftest import SOURCES

SNIPPET = re.compile(r"(?:<!-- needs ([^>]*?) -->\n)?```python\n(.*?)```", re.DOTALL)
PAGES = ["README.md", "docs/python.md", "docs/evaluation.md", "docs/patching.md", "docs/probe.md", "docs/tables.md"]


def snippets(page: str) -> list:
    """(modules it needs besides those of the tests, code, line)"""
    text = (SOURCES / page).read_text(encoding="utf-8")
    return [((found[1] or "").replace(",", " ").split(), found[2], text[:found.start(2)].count("\n"))
            for found in SNIPPET.finditer(text)]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Snippets read as from the repository's folder and write elsewhere."""
    for folder in ("examples", "models", "tests"):
        (tmp_path / folder).symlink_to(SOURCES / folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_snippets_run_in_order(page, workplace):
    pytest.importorskip("matplotlib").use("Agg")
    names: dict = {}
    found = snippets(page)
    assert found
    for needed, code, line in found:
        if all(importlib.util.find_spec(module) for module in needed):
            # Lines of a traceback are those of the page.
            exec(compile("\n" * line + code, page, "exec"), names)


def readme_commands() -> list:
    blocks = re.findall(r"```sh\n(.*?)```", (SOURCES / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("whyformer ")]


def test_readme_has_one_command_and_six_more():
    assert len(readme_commands()) == 7


@pytest.mark.parametrize("command", readme_commands())
def test_commands_of_the_readme_run(command, workplace, command_line):
    _, error, code = command_line(*shlex.split(command)[1:])
    assert code == 0, error
    for name in re.findall(r"--(?:html|png) (\S+)", command):
        assert (workplace / name).stat().st_size > 1000


def test_the_readme_shows_what_its_first_command_prints(command_line):
    readme = (SOURCES / "README.md").read_text(encoding="utf-8")
    shown = readme.split(readme_commands()[0] + "\n```\n```\n")[1].split("```")[0]
    printed, _, _ = command_line(*shlex.split(readme_commands()[0])[1:])
    # Times, and gaps that are rounding.
    varying = re.compile(r"[\d.e-]+ s\b|\d\.\d+e-\d+")
    assert varying.sub("…", shown).split() == varying.sub("…", printed).split()


def test_every_python_block_is_found():
    for page in PAGES:
        assert len(snippets(page)) == (SOURCES / page).read_text(encoding="utf-8").count("```python")


def test_other_pages_have_no_python_that_does_not_run():
    others = [path for path in SOURCES.glob("docs/*.md") if f"docs/{path.name}" not in PAGES]
    assert others and not [path.name for path in others if "```python" in path.read_text(encoding="utf-8")]


def test_the_page_on_cpp_shows_the_example_that_is_compiled():
    example = (SOURCES / "examples" / "explain.cpp").read_text(encoding="utf-8").split("\n", 1)[1]
    assert f"```cpp\n{example}```" in (SOURCES / "docs" / "cpp.md").read_text(encoding="utf-8")
