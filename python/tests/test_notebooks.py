"""The notebooks of examples/ run from top to bottom, and are stored with what they show."""

import json
import re

import pytest

from conftest import SOURCES, script

nbformat = pytest.importorskip("nbformat")
NOTEBOOKS = sorted((SOURCES / "examples").glob("*.ipynb"))


def shown(notebook) -> list:
    """Kinds of what each cell shows. Numbers may differ in their last digits from machine to machine, and a slow cell's
    printed lines come in several pieces."""
    kinds = ([(output.output_type, sorted(output.get("data", {}))) for output in cell.outputs]
             for cell in notebook.cells if cell.cell_type == "code")
    return [[kind for before, kind in zip([None, *cell], cell) if kind[0] != "stream" or kind != before]
            for cell in kinds]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_and_shows_what_is_stored(path):
    for needed in ("nbclient", "ipykernel", "pandas", "matplotlib", "PIL", "sklearn"):
        pytest.importorskip(needed)
    assert shown(script("run_notebooks").execute(path)) == shown(nbformat.read(path, as_version=4))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stored_clean(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < 1_500_000
    assert notebook.metadata == {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                 "language_info": {"name": "python"}}
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert not re.search(r"/(home|root|tmp|work|Users|usr)/\w", text)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert any(cell.outputs for cell in code)
    streams = [output.get("name") for cell in code for output in cell.outputs]
    assert "stderr" not in streams and "error" not in [o.output_type for cell in code for o in cell.outputs]


def test_notebooks_ask_for_neither_torch_nor_the_network():
    assert len(NOTEBOOKS) == 7
    for path in NOTEBOOKS:
        sources = "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
                            if cell["cell_type"] == "code")
        assert not re.search(r"\b(torch|transformers|urllib|requests|fetch_\w+|https?)\b", sources)
