"""docs/methods.md says what the catalogue says."""

import re

import whyformer as wf

from conftest import SOURCES, script


def test_the_page_is_up_to_date():
    assert (SOURCES / "docs" / "methods.md").read_text(encoding="utf-8") == script("generate_method_docs").page(), \
        "run scripts/generate_method_docs"


def test_every_method_option_and_preset_is_there():
    page = (SOURCES / "docs" / "methods.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    assert list(sections) == [method.name for method in wf.methods()]
    for method in wf.methods():
        for named in [*method.options, *method.presets]:
            assert f"| `{named.name}` |" in sections[method.name]
