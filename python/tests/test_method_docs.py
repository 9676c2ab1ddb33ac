"""docs/methods.md and README.md say what the catalogue says."""

import re

import pytest
import whyformer as wf

from conftest import SOURCES, script


def text_of(page: str) -> str:
    return (SOURCES / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page, generated", [("docs/methods.md", "page"), ("README.md", "readme")])
def test_the_page_is_up_to_date(page, generated):
    assert text_of(page) == getattr(script("generate_method_docs"), generated)(), "run scripts/generate_method_docs"


def test_every_method_option_and_preset_is_there():
    sections = dict(re.findall(r"^## ([a-z]\S+)\n(.*?)(?=^## |\Z)", text_of("docs/methods.md"), re.DOTALL | re.MULTILINE))
    assert list(sections) == [method.name for method in wf.methods()]
    for method in wf.methods():
        for named in [*method.options, *method.presets]:
            assert f"| `{named.name}` |" in sections[method.name]


def test_methods_are_local_and_studies_global():
    assert {method.scope for method in wf.methods()} == {"local"}
    assert {study.scope for study in wf.studies()} == {"global"}


def test_the_command_line_shows_the_taxonomy(command_line):
    printed, _, _ = command_line("methods")
    for entry in [*wf.methods(), *wf.studies()]:
        kind = ["agnostic" if entry.model_agnostic else "specific", *("yes" if flag else "no" for flag in
                                                                    (entry.class_specific, entry.is_signed))]
        row = next(line for line in printed.splitlines() if line.split()[:1] == [entry.name])
        assert row.split()[1:4] == kind and entry.cost in row and entry.summary in row
        details, _, _ = command_line("methods", entry.name)
        assert f"  {entry.scope}, model-{kind[0]}, " in details and entry.paper in details


def test_readme_recommends_methods_that_exist():
    table = text_of("README.md").split("## Which method when")[1].split("\n\n")[1]
    rows = table.splitlines()[2:]
    named = [re.findall(r"`([^`]+)`", row.split("|")[2]) for row in rows]
    known = {entry.name for entry in [*wf.methods(), *wf.studies()]}
    assert len(rows) == 8 and all(named)
    assert {name for names in named for name in names} <= known


def test_documentation_is_wrapped():
    """Rows of tables, code and addresses cannot be wrapped."""
    for path in script("wrap_docs").pages():
        prose = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        long = [line for line in prose.splitlines() if len(line) > 100 and not line.startswith(("|", "!["))]
        assert not long, f"{path.name}: run scripts/wrap_docs: {long[0]}"
