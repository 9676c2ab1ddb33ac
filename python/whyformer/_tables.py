"""What a table's columns are and how a model reads them: table.json from frames and what prepared them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import _native
from ._cells import cell_rows, cell_text
from . import _from_sklearn
from ._from_packages import package_labels, package_of
from ._from_sklearn import Feature, as_number
from ._inputs import column_names
from ._native import Error, InvalidInput, UnsupportedModel

SCHEMA = "whyformer.table/1"
OUTPUTS = {"binary": "one-logit", "multiclass": "logits", "multilabel": "logits", "regression": "value"}


class TableSpec:
    """The description of a table that stands beside a model's weights as table.json."""

    def __init__(self, fields: Mapping):
        self.fields = dict(fields)

    @property
    def columns(self) -> list[dict]:
        return self.fields["columns"]

    def to_json(self) -> str:
        """As it is written to table.json: one line for each column."""
        lines = [f' "{key}": {_json(value)}' for key, value in self.fields.items() if key not in ("schema", "columns")]
        columns = ",\n".join("  " + _json(column) for column in self.columns)
        lines.insert(2, f' "columns": [\n{columns}]')
        return "{" + ",\n".join([f'"schema": {_json(SCHEMA)}', *lines]) + "}\n"

    def transform(self, frame) -> dict[str, np.ndarray]:
        """What the cells of a frame become, by the names of the model's inputs: arrays [rows, columns]."""
        found = _native.encode_rows(self.to_json(), column_names(frame), cell_rows(frame))
        return {one.name: np.array(one.numbers) for one in found}

    def __repr__(self) -> str:
        width = max(len(column["name"]) for column in self.columns)
        task = self.fields["task"]
        labels = ", ".join(task.get("labels", []))
        head = f"TableSpec: {len(self.columns)} columns, {task['kind']}{' (' + labels + ')' if labels else ''}"
        return "\n".join([head, *(f"  {column['name']:{width}}  {_told(column)}" for column in self.columns)])


def _json(value) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _told(column: Mapping) -> str:
    """A column in one line."""
    at = column["at"]
    places = f"{column['input']}[{', '.join(str(place) for place in at)}]" if len(at) < 5 else \
        f"{column['input']}[{at[0]} … {at[-1]}]"
    parts = [column["kind"]]
    if column["kind"] == "category":
        words = column["categories"]
        parts.append(f"{len(words)} words ({', '.join(words[:3])}{', …' if len(words) > 3 else ''})")
    parts += [step["op"] + (f" to {step['to']}" if step["op"] == "quantile" else "") for step in column.get("steps", [])]
    missing = column["missing"]
    if missing["how"] != "refuse":
        parts.append("missing: " + (f"{missing[missing['how']]:g}" if missing["how"] in missing else missing["how"]))
    return f"{places}: {' → '.join(parts)}"


def features_of(preprocessing, frame) -> list[Feature]:
    """The outputs of what prepared a table, in their order."""
    package = package_of(preprocessing)
    return package.features(preprocessing, frame) if package is not None else _from_sklearn.features_of(preprocessing, frame)


def transformed(preprocessing, frame) -> np.ndarray:
    """What it makes of the frame itself: [rows, outputs]."""
    package = package_of(preprocessing)
    if package is not None:
        return np.asarray(package.transformed(preprocessing, with_text_names(frame)), dtype=np.float64)
    return _from_sklearn.transformed(preprocessing, frame)


def describe_table(frame, preprocessing=None, labels=None, task: str | None = None, *, name: str | None = None,
                   output: str | None = None, scale=None, units: Mapping[str, str] | None = None,
                   categorical: Sequence[str] = (), id_offset: int = 0,
                   inputs: tuple[str, str] = ("x_cont", "x_cat")) -> TableSpec:
    """How a model reads the columns of `frame`, from the scikit-learn objects that prepared its training rows.

    preprocessing  a fitted ColumnTransformer, Pipeline or single transformer; or fitted ones by the names of their columns,
                   {"age": scaler, ("job", "city"): encoder}, in the order in which the model reads them; None for a frame
                   of numbers that the model reads as they are. Also pytorch_tabular's TabularDatamodule (joblib.load of
                   datamodule.sav), pytorch-widedeep's TabPreprocessor, torch_frame's Dataset, lit-saint's SaintDatamodule,
                   and `SaintPreparation` for SAINT
    labels         names of the classes, or a fitted LabelEncoder of the answers
    task           binary, multiclass, multilabel or regression; by default what the labels tell
    name           of what is predicted
    output         one-logit, logits, probabilities or value: what the model gives
    scale          of a regression whose answers were standardised: (mean, std), or the fitted StandardScaler
    units          by the names of columns: {"age": "years"}
    categorical    columns that hold the ids of categories and are read as they are
    id_offset      what was added to the encoders' numbers, as in `encoder.transform(X) + 1`
    inputs         names of the model's inputs for numbers and for the ids of categories
    """
    return described(frame, preprocessing, labels, task, name=name, output=output, scale=scale, units=units,
                     categorical=categorical, id_offset=id_offset, inputs=inputs)[0]


def described(frame, preprocessing=None, labels=None, task=None, *, name=None, output=None, scale=None, units=None,
              categorical=(), id_offset=0, inputs=("x_cont", "x_cat")) -> tuple[TableSpec, list[Placed]]:
    """The description, and where the model reads each output of the preprocessing."""
    named = with_text_names(frame)
    if labels is None and task != "regression":
        labels = package_labels(preprocessing)
    placed = _placed(features_of(preprocessing, named), named, set(categorical), id_offset, inputs)
    by_column: dict[str, list[Placed]] = {}
    for one in placed:
        by_column.setdefault(one.feature.column, []).append(one)
    columns = [_column(name, by_column[name]) for name in named.columns if name in by_column]
    for column in columns:
        if column["name"] in (units or {}):
            column["unit"] = units[column["name"]]
    spec = TableSpec({"schema": SCHEMA, "model": {}, "task": _task(labels, task, name, output, scale), "columns": columns,
                      "missing_words": ["", "NA", "NaN", "null"]})
    _warn_of_answers(spec, named)
    _check(spec, frame, preprocessing, placed)
    return spec, placed


def _warn_of_answers(spec: TableSpec, frame) -> None:
    """A column of the labels themselves explains everything, and is hardly meant."""
    labels = set(spec.fields["task"].get("labels", []))
    for column in spec.columns:
        cells = {cell_text(one) for one in frame[column["name"]].dropna().unique()}
        if labels and cells == labels:
            warnings.warn(f"column '{column['name']}' holds the labels themselves ({', '.join(sorted(labels)[:3])}): leave it "
                          "out of the frame if it is the answer", stacklevel=4)


def with_text_names(frame):
    """The frame with its columns' names as a file has them."""
    return frame.set_axis(column_names(frame), axis=1)


def _task(labels, task, name, output, scale) -> dict:
    labels = [cell_text(one) for one in getattr(labels, "classes_", labels if labels is not None else [])]
    if task is None:
        task = "regression" if not labels else "binary" if len(labels) == 2 else "multiclass"
    if task not in OUTPUTS:
        raise InvalidInput(f"task= is one of {', '.join(OUTPUTS)}, not {task!r}")
    fields = {"kind": task}
    if name is not None:
        fields["name"] = str(name)
    if labels:
        fields["labels"] = labels
    fields["output"] = output or OUTPUTS[task]
    if scale is not None:
        mean, std = (scale.mean_[0], scale.scale_[0]) if hasattr(scale, "mean_") else scale
        fields["scale"] = {"mean": float(mean), "std": float(std)}
    return fields


@dataclass(frozen=True)
class Placed:
    """A feature where the model reads it."""
    feature: Feature
    input: str
    place: int
    added: int  # to what the preprocessing gives


def _placed(features: list[Feature], frame, categorical: set, id_offset: int, inputs) -> list[Placed]:
    """Each feature at the next place of its input, in the order in which the preprocessing gives them."""
    if not features:
        raise InvalidInput("the preprocessing leaves no column")
    places: dict[str, int] = {}
    found = []
    for feature in features:
        encoded = feature.kind == "id"
        feature = _finished(feature, frame, categorical, id_offset)
        chosen = inputs[feature.kind == "id"]
        found.append(Placed(feature, chosen, places.get(chosen, 0), id_offset if encoded else 0))
        places[chosen] = found[-1].place + 1
    return found


def _finished(feature: Feature, frame, categorical: set, id_offset: int) -> Feature:
    """What nothing prepared is a number, or the id of a category; ids are those that the model gets."""
    if feature.kind == "id":
        return _shifted(feature, id_offset)
    if feature.kind != "raw":
        return feature
    cells = frame[feature.column].dropna()
    if feature.column in categorical:
        ids = sorted({int(one) for one in cells.unique()})
        return replace(feature, kind="id", words=tuple(str(one) for one in ids), ids=tuple(ids))
    if not all(isinstance(one, (int, float, np.number, np.bool_)) for one in cells.unique()):
        raise InvalidInput(f"column '{feature.column}' holds words that nothing encodes: give preprocessing= with an "
                           "OrdinalEncoder or OneHotEncoder for it")
    return as_number(feature, frame)


def _shifted(feature: Feature, offset: int) -> Feature:
    def rule(given):
        if given["how"] != "id":
            return {"how": "refuse"}  # NaN is no id
        # An embedding has no row for a number below 0.
        return {"how": "id", "id": given["id"] + offset} if given["id"] + offset >= 0 else {"how": "refuse"}
    return replace(feature, ids=tuple(one + offset for one in feature.ids), missing=rule(feature.missing),
                   unknown=rule(feature.unknown))


def _column(name: str, given: list[Placed]) -> dict:
    """One column of a table.json from the features that it became."""
    main = [one for one in given if one.feature.kind != "indicator"]
    indicators = [one for one in given if one.feature.kind == "indicator"]
    if not main or [one.feature.place for one in main] != list(range(main[0].feature.places)):
        raise UnsupportedModel(f"column '{name}' is read by several transformers, or by a part of one: give the frame a "
                               "copy of it under another name for each")
    first = main[0].feature
    column = {"name": name, "kind": "category" if first.words else "number", "input": main[0].input,
              "at": [one.place for one in main + indicators]}
    if first.words:
        column["categories"] = list(first.words)
        column |= {"values": list(first.values)} if first.values else {"ids": list(first.ids)}
        column["unknown"] = dict(first.unknown) if first.unknown["how"] != "nan" else {"how": "refuse"}
    column["missing"] = dict(first.missing)
    steps = [*first.steps, *_one_hot_step([one.feature for one in main])]
    steps += [{"op": "indicator"} | _switch(one.feature.off, one.feature.on) for one in indicators]
    if steps:
        column["steps"] = steps
    return column


def _one_hot_step(features: list[Feature]) -> list[dict]:
    if features[0].kind != "place":
        return []
    if all(not _switch(one.off, one.on) for one in features):
        return [{"op": "one-hot"}]
    return [{"op": "one-hot", "off": [one.off for one in features], "on": [one.on for one in features]}]


def _switch(off: float, on: float) -> dict:
    return {} if (off, on) == (0, 1) else {"off": off, "on": on}


def model_inputs(frame, preprocessing, placed: list[Placed]) -> dict[str, np.ndarray]:
    """What the preprocessing itself gives, by the names of the model's inputs."""
    outputs = transformed(preprocessing, frame)
    found: dict[str, list] = {}
    for index, one in enumerate(placed):
        found.setdefault(one.input, []).append(outputs[:, index] + one.added)
    return {name: np.stack(columns, axis=1) for name, columns in found.items()}


def readable_rows(spec: TableSpec, frame, count: int) -> np.ndarray:
    """Places of rows whose missing cells the description fills in, drawn as shap draws a background: seed 0."""
    strict = [column["name"] for column in spec.columns if column["missing"]["how"] in ("refuse", "nan")]
    whole = np.flatnonzero(~with_text_names(frame)[strict].isna().any(axis=1).to_numpy(dtype=bool))
    return whole[np.random.RandomState(0).permutation(len(whole))[:count]]


def _check(spec: TableSpec, frame, preprocessing, placed: list[Placed]) -> None:
    """That the description gives what the preprocessing gives, on rows of the frame."""
    rows = frame.iloc[readable_rows(spec, frame, 200)]
    if len(rows) == 0:
        return
    expected = model_inputs(rows, preprocessing, placed)
    for name, numbers in spec.transform(rows).items():
        wanted = expected[name]
        near = np.abs(numbers - wanted) <= 1e-6 * np.maximum(1, np.abs(wanted))
        wrong = ~(near | (np.isnan(numbers) & np.isnan(wanted)))
        if wrong.any():
            row, place = np.argwhere(wrong)[0]
            column = next(one["name"] for one in spec.columns if one["input"] == name and place in one["at"])
            raise Error(f"column '{column}': the description gives {numbers[row, place]:g}, the preprocessing "
                        f"{wanted[row, place]:g}; please report this, with the preprocessing")
