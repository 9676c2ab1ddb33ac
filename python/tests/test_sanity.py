"""Sanity checks of explanations."""

import json

import pytest

import whyformer as wf

TEXTS = ["I cannot wait for next time", "This is so boring", "a warm and funny film",
         "the plot makes no sense at all", "the acting is good but it is long"]


@pytest.fixture
def model():
    return wf.load("sentiment")


def test_attention_sees_neither_the_class_nor_the_head(model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = wf.sanity(model, TEXTS, ["rollout", "gradient-x-input"], independent=False)
    assert found.verdicts()["rollout"]["class"] == "no"
    assert found.verdicts()["gradient-x-input"]["class"] == "yes"
    table = found.to_pandas()
    head = table[(table.method == "rollout") & (table.step == "head")].iloc[0]
    assert head.identical == 5 and head.spearman_of_magnitudes == 1
    assert "Cannot see the class" in str(found)
    card = tmp_path / "whyformer" / "sanity" / f"{found.hash}.json"
    assert json.loads(card.read_text()) == found.to_dict()
    trust = model.explain(TEXTS[0], ["rollout", "gae"], trust=True, progress=False).trust
    assert trust["rollout"]["sanity"]["depends_on_class"] == "no" and trust["rollout"]["sanity"]["inputs"] == 5
    assert trust["gae"]["sanity"] is None  # not on the card
    found.save(tmp_path / "sanity.json")
    with pytest.raises(wf.InvalidInput):
        found.save(tmp_path / "sanity.svg")


def test_wrong_requests_are_refused(model):
    with pytest.raises(wf.InvalidInput, match="no inputs"):
        wf.sanity(model, [], ["gae"], keep=False)
    with pytest.raises(wf.InvalidInput, match="randomised_target"):
        wf.sanity(model, TEXTS, ["gae"], randomised_target="other", keep=False)
