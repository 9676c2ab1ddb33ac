"""Table models from memory to a folder and back, as their users have them."""

import copy
import json
import pickle

import numpy as np
import pytest

import whyformer as wf
from conftest import SOURCES

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.inspection import PartialDependenceDisplay, permutation_importance  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, QuantileTransformer, StandardScaler  # noqa: E402


@pytest.fixture(scope="module")
def people():
    random = np.random.RandomState(5)
    count = 1200
    frame = pandas.DataFrame({
        "job": random.choice(["State-gov", "Private", "Self-emp"], count),
        "age": random.randint(17, 91, count),
        "hours": np.where(random.rand(count) < 0.1, np.nan, random.normal(40, 12, count)),
        "sex": random.choice(["Female", "Male"], count),
        "city": random.choice(["Ulm", "Bonn", "Köln"], count),
        "label": random.randint(0, 2, count),
    })
    frame.loc[frame.index % 17 == 0, "job"] = np.nan
    return frame


@pytest.fixture(scope="module")
def columns(people):
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True),
                            QuantileTransformer(n_quantiles=100, output_distribution="normal"))
    words = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=4, encoded_missing_value=3)
    return make_column_transformer((numbers, ["hours", "age"]), (words, ["job", "sex"]),
                                   (OneHotEncoder(), ["city"])).fit(people)


def transformer(outputs=1):
    torch = pytest.importorskip("torch")
    rtdl = pytest.importorskip("rtdl_revisiting_models")
    torch.manual_seed(3)
    # hours, age, whether hours is missing, three cities; jobs with missing and unknown ones, sexes.
    return rtdl.FTTransformer(n_cont_features=6, cat_cardinalities=[5, 5], d_out=outputs, n_blocks=2, d_block=16,
                              attention_n_heads=4, attention_dropout=0.1, ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.1,
                              residual_dropout=0.0)


def logits(module, columns, frame):
    torch = pytest.importorskip("torch")
    found = columns.transform(frame)
    numbers, ids = np.delete(found, [3, 4], axis=1), found[:, [3, 4]]
    with torch.no_grad():
        answers = copy.deepcopy(module).eval()(torch.tensor(numbers, dtype=torch.float32), torch.tensor(ids).long())
    return answers.numpy()


@pytest.fixture(scope="module")
def saved(people, columns, tmp_path_factory):
    module = transformer()
    folder = tmp_path_factory.mktemp("tables") / "people"
    model = wf.save_table_model(folder, module, frame=people, preprocessing=columns, labels=["no", "yes"], name="income")
    return module, model, folder


def test_a_saved_model_answers_as_the_module(saved, people, columns):
    module, model, folder = saved
    assert sorted(path.name for path in folder.iterdir()) == ["background.csv", "model.safetensors", "table.json"]
    strange = people.copy()
    strange.loc[strange.index % 7 == 0, "job"] = "Astronaut"
    for frame in (people, strange):
        expected = logits(module, columns, frame)[:, 0]
        found = np.array([one.values for one in model(frame)])
        np.testing.assert_allclose(found[:, 1], expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(found[:, 0], -found[:, 1])


def test_the_order_of_columns_and_other_columns_do_not_matter(saved, people):
    _, model, _ = saved
    expected = np.array([one.values for one in model(people.head(20))])
    turned = people.head(20)[people.columns[::-1]].drop(columns="label")
    np.testing.assert_array_equal([one.values for one in model(turned)], expected)
    with pytest.raises(wf.InvalidInput, match="hours"):
        model(people.drop(columns="hours"))


def test_a_row_of_words_is_explained_by_its_columns(saved, people):
    _, model, _ = saved
    result = model.explain(people.iloc[17], "kernel-shap")
    # In the order of the model's tokens; city and hours are several of them.
    assert [unit.column for unit in result.units if not unit.special] == ["hours", "age", "city", "job", "sex"]
    units = {unit.column: unit for unit in result.units}
    assert units["age"].cell == str(people["age"][17]) and units["sex"].cell == people["sex"][17]
    assert units["job"].missing and units["job"].category
    estimate = result[0].estimate
    np.testing.assert_allclose(result[0].scores.sum(), estimate.value - estimate.base, atol=1e-4)


def test_frames_are_explained_for_shaps_plots(saved, people):
    _, model, _ = saved
    results = model.explain(people.head(4), "kernel-shap", target="yes")
    found = results.to_shap()
    assert found["values"].shape == (4, 5) and found["feature_names"] == ["hours", "age", "city", "job", "sex"]
    expected = np.array([one.values[1] for one in model(people.head(4))])
    np.testing.assert_allclose(found["base_values"] + found["values"].sum(axis=1), expected, atol=1e-4)
    assert found["data"][1, 3] == people["job"][1] and found["data"][1, 1] == people["age"][1]
    assert results[0].to_shap()["values"].shape == (5,)
    shap = pytest.importorskip("shap")
    assert shap.Explanation(**found).shape == (4, 5)


def test_explanations_of_a_frame_are_matrices_of_rows_and_columns(saved, people):
    _, model, _ = saved
    results = model.explain(people.head(3), ["kernel-shap", "raw-attention:gorishniy"], target="yes")
    names = ["hours", "age", "city", "job", "sex"]
    assert results.feature_names == names and results.values.shape == (3, 5)
    assert results.data[1, 3] == people["job"][1] and results.base_values.shape == (3,)
    table = results.to_pandas(by="columns")
    assert list(table["kernel-shap"].columns) == names and len(table) == 3
    np.testing.assert_array_equal(table["kernel-shap"].to_numpy(), results.values)
    attention = results[2]["raw-attention:gorishniy"]
    by_name = {unit.column: score for unit, score in zip(attention.units, attention.scores)}
    assert table["raw-attention:gorishniy"]["hours"][2] == by_name["hours"]


def test_kernel_shap_of_raw_columns_is_shaps_on_the_function_of_raw_rows(saved, people):
    """One column is one-hot in the model, another has an indicator of missing cells: each is one player."""
    shap = pytest.importorskip("shap")
    _, model, _ = saved
    names = ["job", "age", "hours", "sex", "city"]
    background, row = people.iloc[100:120], people.iloc[[702]]
    cells = pandas.concat([background, row])[names].reset_index(drop=True)

    def answer(places):
        """Rows put together from places of cells: shap itself reads numbers alone."""
        frame = pandas.DataFrame({name: cells[name].to_numpy()[places[:, column].astype(int)]
                                  for column, name in enumerate(names)})
        return np.array([one.values[1] for one in model(frame, precision="double", progress=False)])

    places = np.repeat(np.arange(21.0)[:, None], 5, axis=1)
    explainer = shap.KernelExplainer(answer, places[:20])
    expected = explainer.shap_values(places[20], nsamples=2**5 - 2, l1_reg=False, silent=True)
    result = model.explain(row.iloc[0], "kernel-shap", target="yes", background=background, precision="double")
    by_name = {unit.column: score for unit, score in zip(result.units, result[0].scores)}
    np.testing.assert_allclose([by_name[name] for name in names], expected, rtol=0, atol=1e-9)


def test_agreement_has_its_reference_first(saved, people):
    _, model, _ = saved
    found = wf.agree(model, people.head(4), ["gae", "raw-attention:gorishniy"], reference="kernel-shap", magnitudes=True)
    assert list(found.methods) == ["kernel-shap", "gae", "raw-attention:gorishniy"]
    assert list(wf.agree(model, people.head(4), ["gae", "rollout"], reference="rollout").methods) == ["rollout", "gae"]


def test_weights_without_a_description_say_how_to_give_one(saved):
    folder = saved[2]
    with pytest.raises(wf.UnsupportedModel, match=r"rtdl_revisiting_models.*describe_table"):
        wf.load(str(folder / "model.safetensors"))
    found = wf.inspect(folder / "model.safetensors")
    assert found.family == "rtdl-revisiting"
    assert any(one.startswith("heads") for one in found.not_told)
    assert [column.name for column in wf.inspect(folder).columns] == ["job", "age", "hours", "sex", "city"]


def test_rows_explained_for_several_targets_are_no_matrix(saved, people):
    _, model, _ = saved
    both = wf.Explanations([model.explain(people.iloc[1], "leave-one-out", target=label) for label in ("no", "yes")])
    with pytest.raises(wf.InvalidInput, match="several targets"):
        both.to_shap()


def test_scikit_learns_inspection_takes_a_model(saved, people, columns):
    module, model, _ = saved
    classifier = wf.TableClassifier(model)
    frame = people.head(150)[["city", "job", "age", "hours", "sex"]]
    positive = 1 / (1 + np.exp(-logits(module, columns, people.head(150))[:, 0]))
    np.testing.assert_allclose(classifier.predict_proba(frame), np.stack([1 - positive, positive], 1), atol=1e-5)
    assert list(classifier.classes_) == ["no", "yes"]
    assert list(classifier.feature_names_in_) == ["job", "age", "hours", "sex", "city"]
    answers = np.where(positive > 0.5, "yes", "no")
    assert classifier.score(frame, answers) == 1
    found = permutation_importance(classifier, frame, answers, n_repeats=2, random_state=0)
    assert found.importances_mean.shape == (5,) and (found.importances_mean >= 0).all()


def test_partial_dependence_is_drawn_of_a_model(saved, people):
    pytest.importorskip("matplotlib").use("Agg")
    classifier = wf.TableClassifier(saved[1])
    frame = people.head(40)[["job", "age", "hours", "sex", "city"]].dropna().astype({"age": float})
    shown = PartialDependenceDisplay.from_estimator(classifier, frame, ["age"], grid_resolution=5)
    assert shown.pd_results[0]["average"].shape == (1, 5)


def test_weights_and_modules_are_loaded_with_a_description(saved, people, columns, tmp_path):
    torch = pytest.importorskip("torch")
    module, model, folder = saved
    expected = np.array([one.values for one in model(people.head(10))])
    spec = wf.describe_table(people, columns, labels=["no", "yes"])
    spec.fields["model"] = {"heads": 4}
    torch.save(module.state_dict(), tmp_path / "model.pt")
    for found in (wf.load(tmp_path / "model.pt", table=spec), wf.load(module, table=spec),
                  wf.load(tmp_path / "model.pt", table=folder / "table.json")):
        np.testing.assert_allclose([one.values for one in found(people.head(10))], expected, atol=1e-6)
    again = pickle.loads(pickle.dumps(wf.load(tmp_path / "model.pt", table=spec)))
    np.testing.assert_allclose([one.values for one in again(people.head(10))], expected, atol=1e-6)


def test_a_wrong_number_of_heads_is_told_and_nothing_is_written(people, columns, tmp_path):
    with pytest.raises(wf.Error, match="heads"):
        wf.save_table_model(tmp_path / "wrong", transformer(), frame=people, preprocessing=columns, labels=["no", "yes"],
                            heads=2)
    assert not (tmp_path / "wrong").exists()


def test_numbers_of_labels_and_of_outputs_must_fit(people, columns, tmp_path):
    with pytest.raises(wf.InvalidInput, match="the module gives 3 numbers, but there are 2 labels"):
        wf.save_table_model(tmp_path / "wrong", transformer(3), frame=people, preprocessing=columns, labels=["no", "yes"])


def test_several_classes_and_regressions_are_saved(people, columns, tmp_path):
    module = transformer(3)
    model = wf.save_table_model(tmp_path / "three", module, frame=people, preprocessing=columns, labels=["a", "b", "c"])
    np.testing.assert_allclose([one.values for one in model(people.head(9))], logits(module, columns, people.head(9)),
                               atol=1e-5)
    module = transformer()
    answers = StandardScaler().fit(people[["age"]])
    model = wf.save_table_model(tmp_path / "value", module, frame=people, preprocessing=columns, scale=answers, name="age")
    expected = logits(module, columns, people.head(9)) * answers.scale_[0] + answers.mean_[0]
    np.testing.assert_allclose([one.values for one in model(people.head(9))], expected, rtol=1e-5)


def test_a_module_that_is_called_otherwise_is_told_how(people, columns, tmp_path):
    torch = pytest.importorskip("torch")

    class Turned(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformer()

        def forward(self, one, other):
            return self.model(other, one)

    module = Turned()
    with pytest.raises(wf.InvalidInput, match="give forward="):
        wf.save_table_model(tmp_path / "turned", module, frame=people, preprocessing=columns, labels=["no", "yes"])
    model = wf.save_table_model(tmp_path / "turned", module, frame=people, preprocessing=columns, labels=["no", "yes"],
                                forward=lambda x_cont, x_cat: module(x_cat, x_cont))
    np.testing.assert_allclose(model(people.iloc[3]).values[1], logits(module.model, columns, people.iloc[[3]])[0, 0],
                               atol=1e-5)


def test_the_probe_has_missing_cells(saved):
    fields = json.loads((saved[2] / "table.json").read_text(encoding="utf-8"))
    assert len(fields["probe"]["rows"]) == 8
    assert any("" in row for row in fields["probe"]["rows"])


def test_cells_by_name_are_a_row_and_a_list_of_them_rows(saved, people):
    _, model, _ = saved
    row = people.iloc[3]
    expected = model.explain(row, "rollout")[0].scores
    np.testing.assert_array_equal(model.explain(dict(row), "rollout")[0].scores, expected)
    np.testing.assert_array_equal(model(dict(row)).values, model(row).values)
    both = model.explain([dict(people.iloc[2]), row], "rollout")
    assert len(both) == 2
    np.testing.assert_array_equal(both[1][0].scores, expected)


def test_matrices_keep_the_index_of_the_frame(saved, people):
    _, model, _ = saved
    frame = people.head(4).set_axis(["a", "b", "c", "d"])
    results = model.explain(frame, ["rollout", "gae"])
    assert list(results.to_pandas(by="columns").index) == ["a", "b", "c", "d"]
    assert list(results[1:3].to_pandas(by="columns").index) == ["b", "c"]
    assert [one.to_dict()["row"] for one in results] == [0, 1, 2, 3]


def test_a_head_with_another_activation_is_told(tmp_path, people):
    """The weights do not say it: relu would be another answer, which is refused."""
    torch = pytest.importorskip("torch")
    widedeep = pytest.importorskip("pytorch_widedeep.models")
    tab = widedeep.TabTransformer(column_idx={"job": 0, "age": 1}, cat_embed_input=[("job", 3)], continuous_cols=["age"],
                                  input_dim=8, n_heads=2, n_blocks=1, mlp_hidden_dims=[6], mlp_activation="leaky_relu")
    torch.manual_seed(0)
    module = torch.nn.Module()
    module.deeptabular = torch.nn.Sequential(tab, torch.nn.Linear(tab.output_dim, 1))
    frame = people[["job", "age"]].dropna()
    columns = make_column_transformer((OrdinalEncoder(), ["job"]), (StandardScaler(), ["age"])).fit(frame)

    def save(**told):
        return wf.save_table_model(
            tmp_path / "wide", module, frame=frame, preprocessing=columns, labels=["no", "yes"], id_offset=1,
            forward=lambda x_cont, x_cat: module.deeptabular(torch.cat([x_cat.float(), x_cont], 1)), **told)

    with pytest.raises(wf.Error, match="head_activation"):
        save()
    assert save(head_activation="leaky_relu").explain(frame.iloc[0], "leave-one-out")


def test_arrays_without_names_are_refused(saved, people):
    with pytest.raises(wf.InvalidInput, match="finds columns by their names"):
        saved[1](np.zeros((2, 5)))


def test_the_built_in_model_of_tables_explains_a_row():
    model = wf.load("income")
    assert model.reads == "tables"
    classifier = wf.TableClassifier(model)
    assert list(classifier.classes_) == ["<=50K", ">50K"]
    assert "age" in classifier.feature_names_in_


def test_a_waterfall_is_drawn_of_methods_that_add_up(saved, people, tmp_path):
    _, model, _ = saved
    result = model.explain(people.iloc[17], ["gae", "exact-shap"])
    result.save_waterfall(tmp_path / "fall.svg")
    drawn = (tmp_path / "fall.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in ("job", "age", "hours", "sex", "city"))
    result.save_waterfall(tmp_path / "same.svg", "exact_shap")
    assert (tmp_path / "same.svg").read_text(encoding="utf-8") == drawn
    with pytest.raises(wf.InvalidInput, match="add up"):
        result.save_waterfall(tmp_path / "none.svg", "gae")


def test_columns_without_a_score_are_nan_in_frames():
    """A TabTransformer's numbers are beside its tokens: no score, which is not 0."""
    folder = SOURCES / "tests/golden/tables/presets/lucid-tab.survey"
    rows = pandas.read_csv(folder / "rows.csv").head(2)
    results = wf.load(folder).explain(rows, ["raw-attention:all-layers-column", "exact-shap"])
    table = results.to_pandas(by="columns")
    numbers = {unit.column for unit in results[0].units if not unit.category}
    assert len(numbers) == 3
    for name, values in table["raw-attention:all-layers-column"].items():
        assert values.isna().all() == (name in numbers)
    assert table["exact-shap"].notna().all().all()
    one = results[0].to_pandas().set_index("column")["raw-attention:all-layers-column"]
    assert set(one[one.isna()].index) - {""} == numbers
