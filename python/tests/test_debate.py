"""Is attention explanation?"""

import json

import pytest

import whyformer as wf

TEXTS = ["a warm , funny and generous film", "the plot is dull and the jokes fall flat", "this is so boring"]


@pytest.fixture
def model():
    return wf.load("sentiment")


def test_both_sides_come_in_one_report(model, tmp_path):
    found = wf.debate(model, TEXTS, labels=[1, 0, 0], others=[model], steps=5, permutations=10, layer_permutations=2,
                      guides=["uniform", "attention"], progress=False)
    assert set(found.answers()) == {"correlation", "permutation", "adversary", "uniform", "seeds"}
    assert {one["part"] for one in found.refused} == {"diagnostic", "consistent"}  # three texts are too few
    assert found.median_jsd_of_models["mean"] == 0  # the same model
    table = found.to_pandas()
    assert len(table) == 3 and (table.adversary_jsd <= 0.6932).all()
    for ending in ("json", "html", "svg"):
        found.save(tmp_path / f"debate.{ending}")
    assert json.loads((tmp_path / "debate.json").read_text())["schema"] == "whyformer.debate/1"
    assert "Not shown" in str(found)


def test_wrong_requests_are_refused(model):
    with pytest.raises(wf.InvalidInput, match="no inputs"):
        wf.debate(model, [])
    with pytest.raises(wf.InvalidInput, match="no part 'all'"):
        wf.debate(model, TEXTS, parts=["all"], progress=False)
    with pytest.raises(wf.InvalidInput, match="3 inputs, but 1 labels"):
        wf.debate(model, TEXTS, labels=[1])
    with pytest.raises(wf.InvalidInput, match="no adversarial search 'head'"):
        wf.debate(model, TEXTS, scopes=["head"], progress=False)


def test_a_progress_function_that_returns_false_keeps_what_is_done(model):
    # Progress is told every 20 ms, which is many of these inputs.
    found = wf.debate(model, TEXTS * 200, parts=["uniform"], progress=lambda done, total: done < 1)
    assert found.stopped_early and 1 <= len(found.inputs) < 600
