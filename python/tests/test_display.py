"""What notebooks show: a page in a frame, and a picture where frames are taken out."""

import base64
import html
import json
import re

import pytest

import whyformer as wf
from whyformer._display import without_maps

from conftest import SENTENCE, SOURCES

PICTURE = SOURCES / "tests" / "data" / "pictures" / "pairs" / "pair-001.png"


def shown(result) -> str:
    return result._repr_mimebundle_()["text/html"]


def pages(shown_html: str) -> list:
    return [html.unescape(page) for page in re.findall(r'<iframe srcdoc="([^"]*)"', shown_html)]


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def sanitised(shown_html: str) -> str:
    """As GitHub and notebooks that are not trusted do it."""
    return re.sub(r"<(style|iframe)\b.*?</\1>| style=\"[^\"]*\"", "", shown_html, flags=re.DOTALL)


def test_the_frame_holds_the_page_that_is_saved(model):
    result = model.explain(SENTENCE, "gae")
    assert pages(shown(result)) == [result.to_html()]


def test_a_picture_is_left_where_frames_are_taken_out(model):
    left = sanitised(shown(model.explain(SENTENCE, "gae")))
    assert "<iframe" not in left and "display:none" not in left
    kind, content = re.search(r'src="data:image/(\w+);base64,([^"]*)"', left).groups()
    assert kind == "png" and base64.b64decode(content).startswith(b"\x89PNG")


def test_the_picture_is_hidden_beside_the_frame(model):
    found = shown(model.explain(SENTENCE, "gae"))
    name = re.search(r'<img class="([^"]*)"', found)[1]
    # Notebooks' own rules for pictures are more specific than a class.
    assert f"<style>.{name}{{display:none !important}}</style>" in found


def test_the_same_result_is_shown_by_the_same_bytes(model):
    result = model.explain(SENTENCE, "gae")
    assert shown(result) == shown(result)


def test_several_are_side_by_side_and_two_in_a_row_as_pictures(model):
    results = model.explain([SENTENCE, "This is so boring", "fine"], "gae")
    found = shown(results)
    assert len(pages(found)) == 3 and "flex-wrap:wrap" in found
    assert sanitised(found).count("<tr>") == 2 and sanitised(found).count("<img") == 3


def test_large_maps_stay_out_of_notebooks(painter):
    result = painter.explain(PICTURE, ["gae", "integrated-gradients"])
    found = shown(result)
    assert len(found) < 450_000 < len(result.to_html())
    page = pages(found)[0]
    assert 'id="map-0"' not in page
    expected = data_of(result.to_html())
    expected["attention"].update(maps=[], note=data_of(page)["attention"]["note"])
    assert data_of(page) == expected
    assert "save(" in expected["attention"]["note"]


def test_targets_of_a_picture_share_a_page(painter):
    assert len(pages(shown(painter.explain(PICTURE, "gae", target=["dalmatian", "ladybird"])))) == 1


@pytest.mark.parametrize("text", ["</script><b>x", "<!-- \" ' & \u2028"])
def test_texts_cannot_leave_their_place(model, text):
    result = model.explain([text, "fine"], "gae")
    left = sanitised(shown(result))
    assert "<b>x" not in re.sub(r'alt="[^"]*"', "", left) and "<!--" not in left
    page = pages(shown(result))[0]
    assert page.count("<script") == result[0].to_html().count("<script") - len(result[0].attention)
    assert data_of(page)["model"] == "sentiment"


def test_pages_without_maps_stay_as_they_are():
    assert without_maps("<html></html>") == "<html></html>"


def test_drawings_are_pictures_of_half_their_pixels(model, tmp_path):
    for drawing in (model.inspect(), model.explain([SENTENCE, "fine"], "gae").summary()):
        found = drawing._repr_mimebundle_()
        drawing.save(tmp_path / "x.svg")
        width = re.search(r'<svg[^>]* width="(\d+)', (tmp_path / "x.svg").read_text())[1]
        assert f' width="{width}" src="data:image/png;base64,' in found["text/html"]
        assert found["text/plain"]


def test_nothing_to_show():
    assert "text/html" not in wf.Explanations([])._repr_mimebundle_()


def test_functions_show_their_values_and_escape_names():
    found = wf.shap(lambda seen: seen @ [1.0, -2.0], ["<b>", "second"])()
    assert str(found).splitlines()[1:] == ["  second -2", "     <b> +1"]
    table = found._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;" in table and "<b>" not in table
    # The largest reaches from the middle to the edge, the other half as far.
    assert "margin-left:0.0%;width:50.0%" in table and "margin-left:50.0%;width:25.0%" in table


def test_functions_of_several_outputs_show_what_they_are():
    found = wf.shap(lambda seen: seen * [1.0, 2.0], 2)()
    assert found._repr_mimebundle_() == {"text/plain": repr(found)} and str(found) == repr(found)
