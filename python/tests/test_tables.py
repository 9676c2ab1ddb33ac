"""Rows of tables: frames, series and arrays say the same."""

import pickle

import numpy as np
import pytest

import whyformer as wf

from conftest import SOURCES

pandas = pytest.importorskip("pandas")
WINE = SOURCES / "examples" / "data" / "wine.onnx"


@pytest.fixture(scope="module")
def wines():
    return pytest.importorskip("sklearn.datasets").load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def taster():
    return wf.load(WINE)


def test_answers_of_frames_arrays_and_rows_are_the_same(taster, wines):
    expected = np.array([one.values for one in taster(wines)])
    np.testing.assert_array_equal([one.values for one in taster(wines.to_numpy())], expected)
    np.testing.assert_array_equal(taster(wines.iloc[5]).values, expected[5])
    np.testing.assert_array_equal(taster(wines.iloc[5].to_list()).values, expected[5])


def test_names_of_columns_come_from_frames_and_series(taster, wines):
    row = taster.explain(wines.iloc[0], "gae")
    assert row.units[1].text.startswith("alcohol = ")
    np.testing.assert_array_equal(taster.explain(wines.iloc[0].to_numpy(), "gae")["gae"].scores, row["gae"].scores)


def test_columns_of_a_background_are_found_by_their_names(taster, wines):
    def explained(background):
        return taster.explain(wines.iloc[0], "integrated-gradients", background=background)[0].scores

    expected = explained(wines)
    np.testing.assert_array_equal(explained(wines[wines.columns[::-1]]), expected)
    np.testing.assert_array_equal(explained(wines.to_numpy()), expected)
    with pytest.raises(wf.InvalidInput, match="the background has no column 'hue'"):
        explained(wines.rename(columns={"hue": "colour"}))


def test_names_that_two_columns_have_are_refused(taster, wines):
    twice = wines.rename(columns={"hue": "alcohol"})
    for use in (lambda: taster(twice), lambda: taster.explain(twice.iloc[0], "gae"),
                lambda: taster.explain(wines.iloc[0], "shap", background=twice),
                lambda: taster.importance(twice, [0] * len(twice))):
        with pytest.raises(wf.InvalidInput, match="two columns of the table are called 'alcohol'"):
            use()


def test_every_weighted_row_of_a_background_counts(taster, wines):
    weights = np.zeros(len(wines))
    weights[150] = 1
    found = taster.explain(wines.iloc[0], "kernel-shap", background=wines, background_weights=weights)["kernel-shap"]
    label = taster.explain(wines.iloc[0], "gae").target.index
    np.testing.assert_allclose(found.estimate.base, taster(wines.iloc[150]).values[label], atol=1e-5)


def test_weights_go_with_the_rows_of_a_background(taster, wines):
    def explained(background, weights):
        return taster.explain(wines.iloc[:2], "leave-one-out", background=background, background_weights=weights)

    with pytest.raises(wf.InvalidInput, match="background_weights= goes with background="):
        explained(None, [0.5, 0.5])
    with pytest.raises(wf.InvalidInput, match="the background has 178 rows, but 2 weights"):
        explained(wines, [0.5, 0.5])
    with pytest.raises(wf.InvalidInput, match="sum to 178, not to 1"):
        explained(wines, np.ones(len(wines)))


def test_explanations_of_numbers_are_made_for_shaps_plots(taster, wines):
    found = taster.explain(wines.iloc[:3], "kernel-shap", target=0).to_shap()
    np.testing.assert_array_equal(found["data"].astype(float), wines.iloc[:3].to_numpy())
    assert found["feature_names"] == list(wines.columns)
    expected = [one.values[0] for one in taster(wines.iloc[:3])]
    np.testing.assert_allclose(found["base_values"] + found["values"].sum(axis=1), expected, atol=1e-4)
    with pytest.raises(wf.InvalidInput, match="rows of a table"):
        wf.load("sentiment").explain("fine", "gae").to_shap()


def test_models_of_tables_can_be_inspected(taster):
    assert len(taster.inspect().sites) == 2
    assert taster.inspect().read_out == wf.inspect(WINE).read_out == "token 0"


def test_files_that_cannot_be_explained_can_be_inspected():
    path = SOURCES / "tests" / "golden" / "onnx" / "models" / "lxmert.eager.new.20.onnx"
    found = wf.inspect(path)
    assert [site.kind for site in found.sites].count("co") == 3 and len(found.streams) == 2
    longer = wf.inspect(path, {"input_ids": [1, 5]})
    assert longer.inputs[0].shape == [1, 5]


def test_lengths_that_do_not_fit_are_told_with_the_argument_that_changes_them():
    path = SOURCES / "tests" / "golden" / "onnx" / "models" / "lxmert.eager.new.20.onnx"
    with pytest.raises(wf.InvalidInput, match=r"give lengths that fit with shapes=\{'\w+': "):
        wf.inspect(path, {"input_ids": [1, 100000]})


def test_importance_tells_errors_of_zero_and_keeps_its_columns(taster, wines):
    found = taster.importance(wines, [one.values.argmax() for one in taster(wines)])
    lines = str(found).splitlines()
    assert "nan" not in str(found) and any(line.endswith("± 0.0000") for line in lines)
    assert len({line.index("±") for line in lines}) == 1
    assert list(found.to_pandas()["value"]) == sorted(found.to_pandas()["value"], reverse=True)


def test_importances_stand_side_by_side_as_each_method_gives_them(taster, wines, tmp_path):
    rows = wines.iloc[:12]
    answers = [one.values.argmax() for one in taster(rows)]
    found = taster.compare_importances(rows, answers, ["gradient-x-input"], repeats=2, draws=60, seed=4)
    table = found.to_pandas().set_index(["method", "name"])
    assert [one["method"] for one in found.importances] == ["gradient-x-input", "permutation", "sage"]
    for method in ("permutation", "sage"):
        alone = taster.importance(rows, answers, method=method, repeats=2, draws=60, seed=4).to_pandas()
        for name, value in zip(alone["name"], alone["value"]):
            assert table.loc[(method, name), "value"] == value
    scores = np.abs([one["gradient-x-input"].scores
                     for one in taster.explain(rows, "gradient-x-input", background=rows)])
    np.testing.assert_allclose([table.loc[("gradient-x-input", name), "value"] for name in wines.columns],
                               scores.mean(0)[-len(wines.columns):], rtol=1e-12)  # without the class token
    found.save(tmp_path / "sides.html")
    assert "permutation" in (tmp_path / "sides.html").read_text()
    assert "rank" in table and "Importances of the columns" in str(found)
    with pytest.raises(wf.InvalidInput, match="json or .html"):
        found.save("sides.svg")


def test_an_output_of_a_file_is_chosen_by_its_name(taster, wines):
    name = wf.inspect(WINE).outputs[0].split()[0]
    named = wf.load(WINE, output=name)
    expected = taster(wines.iloc[5]).values
    np.testing.assert_array_equal(named(wines.iloc[5]).values, expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(named))(wines.iloc[5]).values, expected)
    with pytest.raises(wf.InvalidInput, match="its outputs are"):
        wf.load(WINE, output="none")
    with pytest.raises(wf.InvalidInput, match="output="):
        wf.load("sentiment", output="logits")
