"""Which explanations to believe."""

import numpy as np
import pytest

import whyformer as wf

TEXTS = ["so bad it is good", "I cannot wait for next time", "a charming and often affecting journey"]


@pytest.fixture(scope="module")
def model():
    return wf.load("sentiment")


def test_trust_is_asked_for_and_has_options(model):
    assert model.explain(TEXTS[0], "gae", progress=False).trust is None
    result = model.explain(TEXTS[2], ["gae", "rollout"], trust={"orders": 19, "noisy_inputs": 0}, progress=False)
    assert list(result.trust) == ["gae", "rollout"]
    assert result["gae"].trust == result.trust["gae"]
    assert result.to_dict()["trust"]["orders"] == 19
    assert result["gae"].trust["stability"] is None
    with pytest.raises(wf.InvalidInput, match="no option 'order'"):
        model.explain(TEXTS[0], "gae", trust={"order": 19})


def test_a_table_of_means_and_a_row_for_each_value(model):
    found = wf.evaluate(model, TEXTS, ["gae", "rollout"], ["comprehensiveness", "sparseness"], progress=False)
    rows = found.to_pandas()
    table = found.table
    assert list(table.index) == ["gae", "rollout", "random"] and list(table) == ["comprehensiveness", "sparseness"]
    for method in table.index:
        for metric in table:
            own = rows[(rows.method == method) & (rows.metric == metric)].value
            assert len(own) == 3 and np.isclose(own.mean(), table.loc[method, metric], rtol=1e-12)


def test_agreement_has_its_ceiling_on_the_diagonal(model):
    table = wf.agree(model, TEXTS, ["gae", "rollout"], progress=False).table("spearman")
    assert table.loc["gae", "rollout"] == table.loc["rollout", "gae"] < 1
    assert table.loc["gae", "gae"] == 1


def test_evaluations_go_on_from_kept_inputs(tmp_path):
    keep = tmp_path / "kept.jsonl"
    texts = ["so bad it is good", "a warm and funny film"]
    first = wf.evaluate("sentiment", texts[:1], ["gae"], ["deletion"], keep=keep)
    both = wf.evaluate("sentiment", texts[::-1], ["gae"], ["deletion"], keep=keep)
    assert both.inputs[1]["methods"] == first.inputs[0]["methods"]
    assert both.inputs[1]["name"] == "input 1"
    assert len(keep.read_text().splitlines()) == 3
    with pytest.raises(wf.InvalidInput, match="keeps the inputs of another evaluation"):
        wf.evaluate("sentiment", texts, ["gae"], ["deletion"], keep=keep, seed=1)
