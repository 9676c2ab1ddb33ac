"""Descriptions of tables from what table packages prepared, each compared with what the package itself makes of the rows."""

import importlib.util
import sys
import types
import typing

import numpy as np
import pytest

import whyformer as wf

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
from sklearn.preprocessing import LabelEncoder  # noqa: E402


@pytest.fixture(scope="module")
def people():
    random = np.random.RandomState(11)
    count = 400
    frame = pandas.DataFrame({
        "town": random.choice(["Ulm", "Bonn", "Köln"], count),
        "age": random.randint(17, 91, count).astype("float64"),
        "job": random.choice(["b", "a", "c", "d"], count, p=[0.5, 0.2, 0.2, 0.1]),
        "hours": random.normal(40, 12, count),
        "rich": random.choice(["no", "yes"], count),
    })
    frame = frame.astype({name: object for name in ("town", "job", "rich")})  # as the packages know words
    frame.loc[frame.index % 17 == 5, "job"] = np.nan
    return frame


@pytest.fixture
def only_modules():
    """Packages whose own __init__ is not run: their many dependencies are not needed."""
    kept = dict(sys.modules)

    def load(module, *packages):
        if importlib.util.find_spec(packages[0]) is None:
            pytest.skip(f"{packages[0]} is not installed")
        for name in packages:
            if name not in sys.modules or not isinstance(getattr(sys.modules[name], "__path__", None), list):
                package = types.ModuleType(name)
                package.__path__ = list(importlib.util.find_spec(name).submodule_search_locations)
                sys.modules[name] = package
        return importlib.import_module(module)

    yield load
    for name in set(sys.modules) - set(kept):
        del sys.modules[name]


def column(spec, name):
    return next(one for one in spec.columns if one["name"] == name)


@pytest.fixture
def datamodule(people):
    module = pytest.importorskip("pytorch_tabular.tabular_datamodule")
    from pytorch_tabular.config import DataConfig, OptimizerConfig, TrainerConfig
    from omegaconf import OmegaConf

    def make(**settings):
        parts = [DataConfig(target=["rich"], continuous_cols=["age", "hours"], categorical_cols=["town", "job"], **settings),
                 TrainerConfig(), OptimizerConfig()]
        merged = {name: value for part in parts for name, value in OmegaConf.to_container(OmegaConf.structured(part)).items()}
        config = OmegaConf.create({**merged, "task": "classification"})
        made = module.TabularDatamodule(train=people.copy(), config=config, validation=people.head(50).copy(), verbose=False)
        made.prepare_data()
        made.setup("fit")
        return made
    return make


@pytest.mark.parametrize("settings", [
    {}, {"normalize_continuous_features": False}, {"continuous_feature_transform": "quantile_normal"},
    {"continuous_feature_transform": "yeo-johnson", "normalize_continuous_features": False}])
def test_a_datamodule_of_pytorch_tabular_is_read(datamodule, people, settings):
    data = datamodule(**settings)
    spec = wf.describe_table(people.drop(columns="rich"), data)
    assert spec.fields["task"]["labels"] == ["no", "yes"]
    rows = people.head(100)
    wanted = data.preprocess_data(rows.copy(), stage="inference")[0]
    found = spec.transform(rows)
    np.testing.assert_allclose(found["x_cont"], wanted[["age", "hours"]].to_numpy(float), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found["x_cat"], wanted[["town", "job"]].to_numpy(float))


def test_unknown_words_of_pytorch_tabular_have_the_id_of_missing_ones(datamodule, people):
    spec = wf.describe_table(people.drop(columns="rich"), datamodule())
    odd = people.head(1).assign(town="Graz", job=np.nan)
    seen = people["job"].fillna(0).unique().tolist()
    np.testing.assert_array_equal(spec.transform(odd)["x_cat"], [[0, seen.index(0) + 1]])


@pytest.mark.parametrize("settings", [
    {"with_attention": True, "with_cls_token": True, "cols_to_scale": ["age"]}, {"with_attention": True, "scale": True},
    {"with_attention": False, "cols_to_scale": "all"}])
def test_a_tab_preprocessor_of_pytorch_widedeep_is_read(only_modules, people, settings):
    if importlib.util.find_spec("pytorch_widedeep") is None:
        pytest.skip("pytorch-widedeep is not installed")
    words = types.ModuleType("pytorch_widedeep.wdtypes")
    words.__getattr__ = lambda name: getattr(typing, name, typing.Any)
    sys.modules["pytorch_widedeep.wdtypes"] = words
    module = only_modules("pytorch_widedeep.preprocessing.tab_preprocessor", "pytorch_widedeep",
                          "pytorch_widedeep.preprocessing", "pytorch_widedeep.utils")
    rows = people.dropna().drop(columns="rich")
    data = module.TabPreprocessor(cat_embed_cols=["town", "job"], continuous_cols=["hours", "age"], verbose=0, **settings)
    wanted = np.asarray(data.fit_transform(rows.copy()), dtype=float)
    spec = wf.describe_table(rows, data, labels=["no", "yes"])
    found = spec.transform(rows)
    np.testing.assert_array_equal(found["x_cat"], wanted[:, -4:-2])
    np.testing.assert_allclose(found["x_cont"], wanted[:, -2:], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(spec.transform(rows.head(1).assign(town="Graz"))["x_cat"][0, 0], 0)


def test_a_dataset_of_torch_frame_is_read(people):
    torch_frame = pytest.importorskip("torch_frame")
    from torch_frame.data import Dataset

    stypes = {"town": torch_frame.categorical, "job": torch_frame.categorical, "hours": torch_frame.numerical,
              "age": torch_frame.numerical, "rich": torch_frame.categorical}
    data = Dataset(people, col_to_stype=stypes, target_col="rich").materialize()
    spec = wf.describe_table(people.drop(columns="rich"), data)
    assert set(spec.fields["task"]["labels"]) == {"no", "yes"}
    rows = people.dropna().head(100)
    wanted = data.convert_to_tensor_frame(rows)
    found = spec.transform(rows)
    for stype, input_name in ((torch_frame.numerical, "x_cont"), (torch_frame.categorical, "x_cat")):
        np.testing.assert_allclose(found[input_name], wanted.feat_dict[stype].numpy(), rtol=1e-6)
    assert column(spec, "job")["categories"][0] == "b"  # the most frequent one


def test_a_datamodule_of_lit_saint_is_read(only_modules, people):
    module = only_modules("lit_saint.datamodule", "lit_saint")
    rows = people.assign(split=np.where(people.index % 5 == 0, "validation", "train")).astype({"split": object})
    rows.loc[3, "hours"] = np.nan
    data = module.SaintDatamodule(rows, target="rich", split_column="split")
    frame = rows.drop(columns=["rich", "split"])
    spec = wf.describe_table(frame, data)
    assert spec.fields["task"]["labels"] == ["no", "yes"]
    data.set_predict_set(frame)
    found = spec.transform(frame)
    np.testing.assert_array_equal(found["x_cat"], data.predict_set[["town", "job"]].to_numpy(float))
    np.testing.assert_allclose(found["x_cont"], data.scaler.transform(data.predict_set[["age", "hours"]].to_numpy()),
                               rtol=1e-9, atol=1e-9)
    # What it has not seen is one more than its categories.
    np.testing.assert_array_equal(spec.transform(frame.head(1).assign(town="Graz"))["x_cat"][0, 0], 3)


def prepared_as_saint_does(frame, categorical, training):
    """data_openml.py: encoders over all rows, numbers by the training rows, whose gaps the first column's mean fills."""
    rows = frame.copy()
    for name in categorical:
        rows[name] = LabelEncoder().fit_transform(rows[name].fillna("MissingValue"))
    numbers = [name for name in frame.columns if name not in categorical]
    for name in numbers:
        rows = rows.fillna(rows[name].iloc[training].mean())
    known = rows[numbers].iloc[training].to_numpy(dtype=np.float32)
    deviation = np.maximum(known.std(0), 1e-6)
    return (rows[numbers].to_numpy(dtype=np.float32) - known.mean(0)) / deviation, rows[categorical].to_numpy(float)


def test_saints_own_preparation_is_made_again(people):
    frame = people.drop(columns="rich").copy()
    frame.loc[frame.index % 23 == 2, "hours"] = np.nan
    training = np.arange(0, len(frame), 2)
    prepared = wf.SaintPreparation(frame, ["town", "job"], training)
    spec = wf.describe_table(frame, prepared, labels=["no", "yes"])
    numbers, ids = prepared_as_saint_does(frame, ["town", "job"], training)
    whole = np.flatnonzero(frame.notna().all(axis=1))
    found = spec.transform(frame.iloc[whole])
    np.testing.assert_allclose(found["x_cont"], numbers[whole], atol=1e-5)
    np.testing.assert_array_equal(found["x_cat"], ids[whole])


def test_columns_that_the_frame_lacks_are_named(people):
    prepared = wf.SaintPreparation(people.drop(columns="rich"), ["town", "job"])
    with pytest.raises(wf.InvalidInput, match="'hours', which the frame does not have"):
        wf.describe_table(people.drop(columns=["rich", "hours"]), prepared, labels=["no", "yes"])
