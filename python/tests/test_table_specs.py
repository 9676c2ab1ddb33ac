"""Fitted scikit-learn objects as table.json: what it tells is what they give."""

import json

import numpy as np
import pytest

import whyformer as wf

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
from sklearn.compose import ColumnTransformer, make_column_transformer  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    FunctionTransformer, KBinsDiscretizer, LabelEncoder, MaxAbsScaler, MinMaxScaler, OneHotEncoder, OrdinalEncoder,
    PowerTransformer, QuantileTransformer, RobustScaler, StandardScaler, TargetEncoder)


@pytest.fixture
def people():
    random = np.random.RandomState(3)
    count = 400
    frame = pandas.DataFrame({
        "age": random.randint(17, 91, count),
        "job": random.choice(["State-gov", "Private", "Self-emp", "Never-worked"], count, p=[0.3, 0.5, 0.19, 0.01]),
        "hours": np.where(random.rand(count) < 0.1, np.nan, random.normal(40, 12, count)),
        "gain": random.lognormal(3, 2, count),
        "sex": random.choice(["Female", "Male"], count),
        "rooms": random.choice([1, 2, 3], count),
        "owner": random.rand(count) < 0.3,
    })
    frame.loc[frame.index % 17 == 0, "job"] = np.nan
    return frame


def expect_same(frame, preprocessing, ids=(), **options):
    """The description gives, cell by cell, what the preprocessing gives; `ids` are its outputs that are ids."""
    spec = wf.describe_table(frame, preprocessing, **options)
    expected = preprocessing.transform(frame)
    expected = np.asarray(expected.toarray() if hasattr(expected, "toarray") else expected, dtype=float)
    numbers = [index for index in range(expected.shape[1]) if index not in ids]
    found = spec.transform(frame)
    if numbers:
        np.testing.assert_allclose(found["x_cont"], expected[:, numbers], rtol=1e-9, atol=1e-12)
    if ids:
        np.testing.assert_array_equal(found["x_cat"], expected[:, list(ids)])
    assert len(found) == bool(numbers) + bool(ids)
    return spec


@pytest.mark.parametrize("scaler", [
    StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False), MinMaxScaler((-1, 2), clip=True),
    MinMaxScaler(), MaxAbsScaler(), RobustScaler(), RobustScaler(with_centering=False),
    QuantileTransformer(n_quantiles=50), QuantileTransformer(n_quantiles=50, output_distribution="normal"),
    PowerTransformer(), PowerTransformer("box-cox", standardize=False), FunctionTransformer(np.log1p),
    KBinsDiscretizer(4, encode="ordinal"), KBinsDiscretizer(4, encode="onehot"), FunctionTransformer()], ids=str)
def test_scalers_are_read(people, scaler):
    columns = people[["gain", "age", "rooms"]]
    expect_same(columns, scaler.fit(columns))


def test_outputs_in_another_order_than_the_frame_are_found(people):
    transformer = ColumnTransformer([
        ("later", StandardScaler(), ["gain", "age"]), ("words", OrdinalEncoder(), ["sex"]),
        ("gone", "drop", ["owner"]), ("same", "passthrough", ["rooms"])]).fit(people)
    spec = expect_same(people, transformer, ids=[2])
    assert [(column["name"], column["input"], column["at"]) for column in spec.columns] == [
        ("age", "x_cont", [1]), ("gain", "x_cont", [0]), ("sex", "x_cat", [0]), ("rooms", "x_cont", [2])]


def test_columns_are_chosen_by_masks_slices_and_functions(people):
    transformer = ColumnTransformer([
        ("mask", StandardScaler(), [True, False, False, True, False, False, False]),
        ("slice", OrdinalEncoder(), slice("sex", "rooms")),
        ("function", MinMaxScaler(), lambda frame: ["owner"])], remainder="drop").fit(people)
    expect_same(people, transformer, ids=[2, 3])


def test_the_remainder_is_read(people):
    numbers = people[["age", "gain", "rooms", "owner"]]
    expect_same(numbers, ColumnTransformer([("one", StandardScaler(), ["gain"])], remainder="passthrough").fit(numbers))
    expect_same(numbers, ColumnTransformer([("one", StandardScaler(), ["gain"])], remainder=MinMaxScaler()).fit(numbers))


def test_imputers_fill_in_before_and_between_steps(people):
    for steps in ([SimpleImputer(), StandardScaler()], [StandardScaler(), SimpleImputer(strategy="median")],
                  [SimpleImputer(add_indicator=True), StandardScaler()], [SimpleImputer(add_indicator=True)],
                  [QuantileTransformer(n_quantiles=20), SimpleImputer(strategy="constant", fill_value=-1), RobustScaler()]):
        columns = people[["hours", "age"]]
        expect_same(columns, make_pipeline(*steps).fit(columns))


def test_a_missing_number_that_nothing_fills_in_stays_missing(people):
    columns = people[["hours", "age"]]
    spec = expect_same(columns, StandardScaler().fit(columns))
    assert spec.columns[0]["missing"] == {"how": "nan"}
    assert spec.columns[1]["missing"] == {"how": "refuse"}


@pytest.mark.parametrize("encoder", [
    OneHotEncoder(), OneHotEncoder(drop="first"), OneHotEncoder(drop="if_binary"), OneHotEncoder(min_frequency=20),
    OneHotEncoder(max_categories=3, handle_unknown="infrequent_if_exist"), OneHotEncoder(handle_unknown="ignore"),
    OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)], ids=str)
def test_one_hot_encoders_are_read(people, encoder):
    columns = people[["job", "sex", "rooms", "owner"]]
    encoder.fit(columns)
    spec = expect_same(columns, encoder)
    assert [column["name"] for column in spec.columns] == ["job", "sex", "rooms", "owner"]
    strange = columns.head(3).assign(job="Astronaut")
    if encoder.handle_unknown == "error":
        with pytest.raises(wf.InvalidInput, match="row 0, column 'job': 'Astronaut' is no known category"):
            spec.transform(strange)
    else:
        expected = encoder.transform(strange)
        expected = expected.toarray() if hasattr(expected, "toarray") else expected
        np.testing.assert_array_equal(spec.transform(strange)["x_cont"], expected)


def test_scalers_behind_one_hot_encoders_are_read(people):
    columns = people[["job", "gain", "sex"]]
    first = make_column_transformer((OneHotEncoder(sparse_output=False), ["job", "sex"]), (RobustScaler(), ["gain"]))
    expect_same(columns, make_pipeline(first, StandardScaler(), MinMaxScaler()).fit(columns))


@pytest.mark.parametrize("encoder", [
    OrdinalEncoder(encoded_missing_value=9),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=7, encoded_missing_value=8),
    OrdinalEncoder(min_frequency=20, encoded_missing_value=5),
    OrdinalEncoder(categories=[["Self-emp", "Private", "State-gov", "Never-worked", np.nan], ["Male", "Female"], [1, 2, 3]],
                   encoded_missing_value=4)], ids=str)
def test_ordinal_encoders_are_read(people, encoder):
    columns = people[["job", "sex", "rooms"]]
    encoder.fit(columns)
    spec = expect_same(columns, encoder, ids=[0, 1, 2])
    if encoder.handle_unknown != "error":
        strange = columns.head(2).assign(job="Astronaut")
        np.testing.assert_array_equal(spec.transform(strange)["x_cat"], encoder.transform(strange))


def test_numbers_below_zero_are_ids_once_they_are_shifted(people):
    columns = people[["job", "sex"]]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1).fit(columns)
    strange = columns.dropna().assign(sex="other")
    spec = wf.describe_table(columns, encoder, id_offset=1)
    np.testing.assert_array_equal(spec.transform(columns)["x_cat"], encoder.transform(columns) + 1)
    np.testing.assert_array_equal(spec.transform(strange)["x_cat"], encoder.transform(strange) + 1)
    with pytest.raises(wf.InvalidInput, match="'other' is no known category"):
        wf.describe_table(columns, encoder).transform(strange)


def test_numbers_of_categories_may_be_scaled(people):
    columns = people[["job", "sex"]]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    spec = expect_same(columns, make_pipeline(encoder, StandardScaler()).fit(columns))
    assert spec.columns[1]["values"] == [0.0, 1.0]


def test_words_are_imputed_before_they_are_encoded(people):
    columns = people[["job", "sex"]]
    for fill in ({"strategy": "most_frequent"}, {"strategy": "constant", "fill_value": "nothing"}):
        expect_same(columns, make_pipeline(SimpleImputer(**fill), OrdinalEncoder()).fit(columns), ids=[0, 1])
    question_marks = columns.fillna("?")
    imputer = SimpleImputer(missing_values="?", strategy="most_frequent")
    expect_same(question_marks, make_pipeline(imputer, OneHotEncoder()).fit(question_marks))


def test_target_encoders_are_read(people):
    columns, answers = people[["job", "rooms"]], people["gain"]
    encoder = TargetEncoder(target_type="continuous").fit(columns, answers)
    spec = expect_same(columns, encoder)
    strange = columns.head(2).assign(job="Astronaut")
    np.testing.assert_allclose(spec.transform(strange)["x_cont"], encoder.transform(strange), rtol=1e-12)


def test_encoders_by_the_names_of_their_columns_are_read(people):
    columns = people[["sex", "age", "gain"]]
    encoder = LabelEncoder().fit(columns["sex"])
    scaler = StandardScaler().fit(columns[["gain", "age"]])
    spec = wf.describe_table(columns, {("gain", "age"): scaler, "sex": encoder})
    found = spec.transform(columns)
    np.testing.assert_allclose(found["x_cont"], scaler.transform(columns[["gain", "age"]]), rtol=1e-12)
    np.testing.assert_array_equal(found["x_cat"][:, 0], encoder.transform(columns["sex"]))


def test_steps_that_cannot_be_told_are_refused_by_name(people):
    columns = people[["age", "gain"]]
    with pytest.raises(wf.UnsupportedModel, match="PCA cannot be written as a step.*give the frame as it is behind that step"):
        wf.describe_table(columns, PCA(1).fit(columns))
    with pytest.raises(wf.UnsupportedModel, match=r"FunctionTransformer\(sqrt\) is arbitrary code"):
        wf.describe_table(columns, FunctionTransformer(np.sqrt).fit(columns))
    with pytest.raises(wf.InvalidInput, match="StandardScaler is not fitted"):
        wf.describe_table(columns, StandardScaler())
    with pytest.raises(wf.InvalidInput, match="'job' holds words that nothing encodes"):
        wf.describe_table(people)
    twice = make_column_transformer((StandardScaler(), ["age"]), (MinMaxScaler(), ["age"])).fit(columns)
    with pytest.raises(wf.UnsupportedModel, match="'age' is read by several transformers"):
        wf.describe_table(columns, twice)


def test_a_description_tells_its_columns_and_task(people):
    transformer = make_column_transformer(
        (make_pipeline(SimpleImputer(), QuantileTransformer(n_quantiles=20, output_distribution="normal")), ["hours"]),
        (OrdinalEncoder(encoded_missing_value=4), ["job"])).fit(people)
    spec = wf.describe_table(people, transformer, labels=["<=50K", ">50K"], name="income", units={"hours": "hours"})
    lines = repr(spec).splitlines()
    assert lines[0] == "TableSpec: 2 columns, binary (<=50K, >50K)"
    assert lines[1].startswith("  job    x_cat[0]: category → 4 words (Never-worked, Private, Self-emp, …) → missing: 4")
    assert lines[2].startswith("  hours  x_cont[0]: number → quantile to normal → missing: ")
    fields = json.loads(spec.to_json())
    assert fields["schema"] == "whyformer.table/1"
    assert fields["task"] == {"kind": "binary", "name": "income", "labels": ["<=50K", ">50K"], "output": "one-logit"}
    assert fields["columns"][1]["unit"] == "hours"


def test_a_regression_has_the_scale_of_its_answers(people):
    answers = StandardScaler().fit(people[["gain"]])
    task = json.loads(wf.describe_table(people[["age"]], scale=answers).to_json())["task"]
    assert task["kind"] == "regression" and task["scale"] == {"mean": answers.mean_[0], "std": answers.scale_[0]}


def test_columns_of_ids_are_read_as_they_are(people):
    spec = wf.describe_table(people[["age", "rooms"]], categorical=["rooms"])
    found = spec.transform(people)
    np.testing.assert_array_equal(found["x_cat"][:, 0], people["rooms"])
    np.testing.assert_array_equal(found["x_cont"][:, 0], people["age"])


def test_a_column_of_the_labels_themselves_is_told_of(people):
    frame = people.assign(rich=np.where(people["rooms"] == 1, "yes", "no"))
    with pytest.warns(UserWarning, match="column 'rich' holds the labels themselves"):
        wf.describe_table(frame[["rich"]], OrdinalEncoder().fit(frame[["rich"]]), labels=["no", "yes"])
