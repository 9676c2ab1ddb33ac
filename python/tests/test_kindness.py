"""What people do by mistake, or expect from other libraries."""

import copy
import json
import pickle

import numpy as np
import pytest

import whyformer as wf

from conftest import SENTENCE


def test_rows_are_aligned_by_the_names_of_their_columns():
    pandas = pytest.importorskip("pandas")
    background = pandas.DataFrame({"age": [20.0, 40, 60], "income": [1.0, 2, 3]})
    explain = wf.shap(lambda rows: rows["income"], background)
    for row in (pandas.Series({"age": 50.0, "income": 3.0}), pandas.Series({"income": 3.0, "age": 50.0})):
        np.testing.assert_allclose(explain(row).values, [0, 1], atol=1e-12)
    with pytest.raises(wf.InvalidInput, match="columns"):
        explain(pandas.Series({"age": 50.0, "wage": 3.0}))


def test_a_table_of_texts_is_its_column(model):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"review": ["good", "bad"]})
    assert [one.text for one in model.explain(table, "gae")] == ["good", "bad"]
    with pytest.raises(wf.InvalidInput, match="one column"):
        model(pandas.DataFrame({"review": ["good"], "label": [1]}))


def test_pictures_that_are_no_numbers(painter):
    with pytest.raises(wf.InvalidInput):
        painter(np.full((96, 96, 3), np.nan))
    with pytest.raises(wf.InvalidInput, match="expected a picture"):
        painter.explain(None)


def test_the_relevance_of_every_operator(model):
    report = model.relevance(SENTENCE)
    assert report.policy == "chefer" and report.steps
    assert np.isfinite(report.at_words)


def test_several_explanations_as_json(model, tmp_path):
    several = model.explain(["good", "bad"], "gae")
    several.save(tmp_path / "all.json")
    several.save(tmp_path / "all.jsonl")
    assert json.loads((tmp_path / "all.json").read_text()) == several.to_dict()
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == several.to_dict()


def test_copies_and_pickles(model):
    summary = model.explain(["good", "bad"], "gae").summary()
    assert copy.copy(summary).to_dict() == summary.to_dict()
    assert copy.copy(model.inspect()).task == model.inspect().task
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(SENTENCE).values, model(SENTENCE).values)
    with pytest.raises(TypeError, match="to_dict"):
        pickle.dumps(model.explain("good", "gae"))


@pytest.mark.parametrize("wrong", [dict(target=1.5), dict(target=True), dict(seed=None), dict(seed=2**70), dict(methods=3),
                                   dict(methods=[None]), dict(options="steps")])
def test_arguments_of_the_wrong_kind(model, wrong):
    with pytest.raises(wf.InvalidInput):
        model.explain(SENTENCE, **{"methods": "gae", **wrong})


def test_which_input_is_wrong(model):
    with pytest.raises(wf.InvalidInput, match="input 2"):
        model.explain(["good", "bad", None], "gae")
    with pytest.raises(wf.InvalidInput, match="input 1"):
        model.explain(["good", ""], "gae")
    with pytest.raises(wf.InvalidInput, match="character 3"):
        model("ab \ud800")


def test_a_refused_method_says_why(painter):
    from conftest import SOURCES

    picture = next((SOURCES / "tests" / "data" / "concepts" / "zebra").glob("*.jpg"))
    result = painter.explain(picture, ["gae", "attention-flow"])
    with pytest.raises(KeyError, match="left out"):
        result["attention-flow"]


def test_concepts_that_are_not_there(model):
    with pytest.raises(wf.FileError):
        wf.tcav(model, {"praise": "/no/file.txt"}, [["a"] * 9], {"positive": ["a"] * 9})
    with pytest.raises(wf.InvalidInput, match="dictionary"):
        wf.tcav(model, ["a"], [["a"] * 9], {"positive": ["a"] * 9})


def test_version():
    assert wf.__version__.count(".") == 2
