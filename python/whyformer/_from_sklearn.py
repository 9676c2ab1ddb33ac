"""What fitted scikit-learn transformers make of a table's columns, as the columns of a table.json.

Each output of a transformer is a Feature, which knows the column that it comes from and what was done to it. Scalers give
steps; encoders are asked what they make of each category, so that their rules for rare, missing and unknown ones hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ._cells import cell_text, is_missing
from ._native import InvalidInput, UnsupportedModel

WAY_OUT = "give the frame as it is behind that step, with the steps that follow as preprocessing="


@dataclass(frozen=True)
class Feature:
    """One output. `kind` is raw (as in the frame), number, id (of a category), place (of a one-hot) or indicator."""
    column: str
    kind: str = "raw"
    steps: tuple = ()
    words: tuple = ()  # of the categories
    ids: tuple = ()
    values: tuple = ()
    missing: Mapping = field(default_factory=lambda: {"how": "refuse"})
    unknown: Mapping = field(default_factory=lambda: {"how": "refuse"})
    fill: object = None  # what an imputer puts into a raw cell
    filled_word: str | None = None  # which it also replaces, besides missing cells
    place: int = 0  # which of a one-hot's
    places: int = 1
    off: float = 0.0
    on: float = 1.0


def features_of(preprocessing, frame) -> list[Feature]:
    """The outputs of fitted transformers in their order."""
    raw = {str(name): Feature(str(name)) for name in frame.columns}
    if preprocessing is None:
        return list(raw.values())
    if isinstance(preprocessing, Mapping):
        found = []
        for columns, transformer in preprocessing.items():
            names = list(columns) if isinstance(columns, tuple) else [columns]
            absent = [name for name in names if str(name) not in raw]
            if absent:
                raise InvalidInput(f"preprocessing= names the column {absent[0]!r}, which the frame does not have")
            found += through(transformer, [raw[str(name)] for name in names], frame)
        return found
    return through(preprocessing, list(raw.values()), frame)


def transformed(preprocessing, frame) -> np.ndarray:
    """What the transformers themselves make of the frame: [rows, outputs]."""
    if preprocessing is None:
        return frame.to_numpy(dtype=np.float64)
    if isinstance(preprocessing, Mapping):
        parts = []
        for columns, transformer in preprocessing.items():
            names = list(columns) if isinstance(columns, tuple) else [columns]
            if isinstance(transformer, str):
                if transformer == "passthrough":
                    parts.append(frame[names].to_numpy(dtype=np.float64))
                continue
            of_labels = type(transformer).__name__ == "LabelEncoder"
            part = transformer.transform(frame[names[0]] if of_labels else frame[names])
            parts.append(_dense(part).reshape(len(frame), -1))
        return np.hstack(parts)
    return _dense(preprocessing.transform(frame))


def _dense(numbers) -> np.ndarray:
    numbers = numbers.toarray() if hasattr(numbers, "toarray") else numbers
    return np.asarray(numbers, dtype=np.float64)


def through(transformer, features: list[Feature], frame) -> list[Feature]:
    if isinstance(transformer, str):
        if transformer == "drop":
            return []
        if transformer == "passthrough":
            return features
        raise InvalidInput(f"preprocessing= has {transformer!r} where a fitted transformer is expected")
    name = type(transformer).__name__
    known = TRANSFORMERS.get(name)
    if known is None or not type(transformer).__module__.startswith("sklearn."):
        raise UnsupportedModel(f"{name} cannot be written as a step of table.json; {WAY_OUT}")
    if name not in ("Pipeline", "FunctionTransformer") and not _is_fitted(transformer):
        raise InvalidInput(f"{name} is not fitted: fit the preprocessing first")
    return known(transformer, features, frame)


def _is_fitted(transformer) -> bool:
    return any(key.endswith("_") and not key.startswith("_") for key in vars(transformer))


def _pipeline(pipeline, features, frame):
    for _, step in pipeline.steps:
        features = through("passthrough" if step is None else step, features, frame)
    return features


def _column_transformer(transformer, features, frame):
    outputs: dict[int, Feature] = {}
    for name, part, columns in transformer.transformers_:
        where = transformer.output_indices_.get(name, slice(0, 0))
        chosen = [features[index] for index in _positions(columns, features, frame)]
        found = through(part, chosen, frame)
        if len(found) != where.stop - where.start:
            raise UnsupportedModel(f"'{name}' of the ColumnTransformer has {where.stop - where.start} outputs, but "
                                   f"{len(found)} are understood; {WAY_OUT}")
        outputs.update(zip(range(where.start, where.stop), found))
    return [outputs[index] for index in sorted(outputs)]


def _positions(columns, features, frame) -> list[int]:
    """Columns as ColumnTransformer takes them: names, places, slices, masks, or a function that gives them."""
    names = [feature.column for feature in features]
    if callable(columns):
        columns = columns(frame)
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            first = names.index(columns.start) if columns.start is not None else 0
            last = names.index(columns.stop) + 1 if columns.stop is not None else None
            columns = slice(first, last, columns.step)
        return list(range(len(names)))[columns]
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    columns = list(columns)
    if columns and all(isinstance(one, (bool, np.bool_)) for one in columns):
        return [index for index, chosen in enumerate(columns) if chosen]
    places = []
    for one in columns:
        if isinstance(one, (int, np.integer)) and int(one) not in frame.columns:
            places.append(range(len(names))[int(one)])
        elif str(one) in names:
            places.append(names.index(str(one)))
        else:
            raise InvalidInput(f"the preprocessing reads the column {one!r}, which the frame does not have")
    return places


# Steps of numbers.

def _standard(scaler, index):
    return [{"op": "standard", "mean": float(scaler.mean_[index]) if scaler.with_mean else 0.0,
             "scale": float(scaler.scale_[index]) if scaler.with_std else 1.0}]


def _min_max(scaler, index):
    step = {"op": "min-max", "min": float(scaler.min_[index]), "scale": float(scaler.scale_[index])}
    if scaler.clip:
        step |= {"clip": True, "least": float(scaler.feature_range[0]), "most": float(scaler.feature_range[1])}
    return [step]


def _max_abs(scaler, index):
    return [{"op": "standard", "mean": 0.0, "scale": float(scaler.scale_[index])}]


def _robust(scaler, index):
    return [{"op": "robust", "center": float(scaler.center_[index]) if scaler.with_centering else 0.0,
             "scale": float(scaler.scale_[index]) if scaler.with_scaling else 1.0}]


def _quantile(transformer, index):
    return [{"op": "quantile", "to": transformer.output_distribution,
             "quantiles": [float(one) for one in transformer.quantiles_[:, index]],
             "references": [float(one) for one in transformer.references_]}]


def _power(transformer, index):
    step = {"op": "power", "kind": transformer.method, "lambda": float(transformer.lambdas_[index])}
    if transformer.standardize:
        step |= {"mean": float(transformer._scaler.mean_[index]), "scale": float(transformer._scaler.scale_[index])}
    return [step]


def _scaled(steps_of):
    """A transformer of numbers that treats each column by itself."""
    def read(transformer, features, frame):
        return [_stepped(transformer, index, feature, steps_of(transformer, index), frame)
                for index, feature in enumerate(features)]
    return read


def _stepped(transformer, index: int, feature: Feature, steps: list, frame) -> Feature:
    if feature.kind in ("place", "indicator"):
        # These have two values only.
        off, on = (_through_column(transformer, index, value) for value in (feature.off, feature.on))
        return replace(feature, off=off, on=on)
    feature = as_number(feature, frame)
    return replace(feature, steps=feature.steps + tuple(steps))


def _through_column(transformer, index: int, value: float) -> float:
    row = np.zeros((1, transformer.n_features_in_))
    row[0, index] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has no names of columns
        return float(_dense(transformer.transform(row))[0, index])


def as_number(feature: Feature, frame) -> Feature:
    """A raw cell, or the id of a category, as a number. Missing cells stay missing where nothing fills them in."""
    if feature.kind == "number":
        return feature
    if feature.kind == "id":
        values = {"how": "value", "value": float(feature.missing["id"])} if "id" in feature.missing else feature.missing
        unknown = {"how": "value", "value": float(feature.unknown["id"])} if "id" in feature.unknown else feature.unknown
        return replace(feature, kind="number", values=tuple(float(one) for one in feature.ids), missing=values,
                       unknown=unknown)
    cells = frame[feature.column]
    missing = {"how": "nan" if cells.isna().any() else "refuse"}
    if feature.fill is not None:
        missing = {"how": "value", "value": float(feature.fill)}
    if str(cells.dtype) in ("bool", "boolean"):
        return replace(feature, kind="number", words=("False", "True"), values=(0.0, 1.0), missing=missing)
    return replace(feature, kind="number", missing=missing)


def _bins(transformer, features, frame):
    found = []
    for index, feature in enumerate(features):
        edges = [float(one) for one in transformer.bin_edges_[index]]
        feature = _stepped(transformer, index, feature, [{"op": "bins", "edges": edges}], frame)
        if transformer.encode == "ordinal":
            found.append(feature)
        elif feature.kind == "number":
            count = int(transformer.n_bins_[index])
            found += [replace(feature, kind="place", place=place, places=count) for place in range(count)]
        else:
            raise UnsupportedModel(f"KBinsDiscretizer of what is one-hot already; {WAY_OUT}")
    return found


def _function(transformer, features, frame):
    if transformer.func is None:
        return features
    if transformer.func is np.log1p:
        return [_stepped_by_log1p(feature, frame) for feature in features]
    name = getattr(transformer.func, "__name__", str(transformer.func))
    raise UnsupportedModel(f"FunctionTransformer({name}) is arbitrary code, which table.json cannot store; {WAY_OUT}")


def _stepped_by_log1p(feature, frame):
    if feature.kind in ("place", "indicator"):
        return replace(feature, off=float(np.log1p(feature.off)), on=float(np.log1p(feature.on)))
    feature = as_number(feature, frame)
    return replace(feature, steps=feature.steps + ({"op": "log1p"},))


def _imputer(imputer, features, frame):
    found = []
    for feature, statistic in zip(features, imputer.statistics_):
        if is_missing(statistic) and not imputer.keep_empty_features:
            continue  # it had no value in the training rows, and is left out
        found.append(_imputed(imputer, feature, 0.0 if is_missing(statistic) else statistic))
    if imputer.indicator_ is not None:
        found += [Feature(features[index].column, kind="indicator") for index in imputer.indicator_.features_]
    return found


def _imputed(imputer, feature: Feature, value) -> Feature:
    if feature.kind in ("place", "indicator"):
        return feature
    given = imputer.missing_values
    if feature.kind == "raw":
        if isinstance(given, str):
            return replace(feature, fill=value, filled_word=given)
        if not is_missing(given):
            raise UnsupportedModel(f"SimpleImputer(missing_values={given!r}) of column '{feature.column}': replace that "
                                   "number by NaN in the frame, and impute NaN")
        return replace(feature, fill=value)
    if feature.kind == "id":
        if not is_missing(given) or feature.missing["how"] != "nan":
            return feature
        return replace(feature, missing={"how": "id", "id": int(value)})
    missing = {"how": "nan"} if feature.missing["how"] == "refuse" else feature.missing
    return replace(feature, missing=missing, steps=feature.steps + ({"op": "fill", "value": float(value)},))


# Encoders of categories.

def _encoded(transformer, index: int, cells: list) -> np.ndarray:
    """What an encoder makes of cells of one of its columns: [cells, outputs of all columns]."""
    import pandas

    columns = {}
    names = getattr(transformer, "feature_names_in_", range(len(transformer.categories_)))
    for other, categories in enumerate(transformer.categories_):
        chosen = cells if other == index else [categories[0]] * len(cells)
        kind = categories.dtype if categories.dtype.kind in "iufb" and not _has_other_type(chosen) else object
        columns[names[other]] = pandas.Series(np.array(chosen, dtype=kind), dtype=kind)
    table = pandas.DataFrame(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _dense(transformer.transform(table if hasattr(transformer, "feature_names_in_") else table.to_numpy()))


def _has_other_type(cells) -> bool:
    return any(isinstance(cell, str) or cell is None for cell in cells)


def _unseen(categories):
    """A cell that is none of the categories."""
    if categories.dtype.kind in "iuf":
        numbers = [float(one) for one in categories if not is_missing(one)]
        return categories.dtype.type(max(numbers, default=0) + 1)
    return "\0 none of them"


def _category(transformer, index: int, feature: Feature, read) -> Feature:
    """A raw column's categories, with what `read` makes of the encoder's outputs for each."""
    if feature.kind != "raw":
        raise UnsupportedModel(f"{type(transformer).__name__} of column '{feature.column}' encodes what another step made; "
                               f"{WAY_OUT}")
    categories = transformer.categories_[index]
    known = [one for one in categories if not is_missing(one)]
    absent = [one for one in categories if is_missing(one)]
    outputs = read(_encoded(transformer, index, known))
    words = [cell_text(one) for one in known]
    missing = unknown = None
    rule = getattr(transformer, "handle_unknown", "ignore")
    if rule != "error":
        unknown = read(_encoded(transformer, index, [_unseen(categories)]))[0]
        missing = unknown
    if absent:
        missing = read(_encoded(transformer, index, absent[:1]))[0]
    if feature.fill is not None:
        filled = cell_text(feature.fill)
        missing = outputs[words.index(filled)] if filled in words else unknown
        if feature.filled_word is not None and feature.filled_word not in words:
            words, outputs = [*words, feature.filled_word], [*outputs, missing]
    return replace(feature, words=tuple(words), values=tuple(outputs), missing=_rule(missing), unknown=_rule(unknown))


def _rule(value) -> dict:
    if value is None:
        return {"how": "refuse"}
    return {"how": "nan"} if np.isnan(value) else {"how": "value", "value": float(value)}


def _as_ids(feature: Feature) -> Feature:
    """Whole numbers become ids. Those below 0 are none: a model has no row for them unless they are shifted."""
    def rule(given):
        return {"how": "id", "id": int(given["value"])} if given["how"] == "value" else given
    return replace(feature, kind="id", ids=tuple(int(one) for one in feature.values), values=(),
                   missing=rule(feature.missing), unknown=rule(feature.unknown))


def ordinal_feature(encoder, feature: Feature, index: int = 0) -> Feature:
    return _as_ids(_category(encoder, index, feature, lambda outputs: outputs[:, index].tolist()))


def _ordinal(encoder, features, frame):
    return [ordinal_feature(encoder, feature, index) for index, feature in enumerate(features)]


def _one_hot(encoder, features, frame):
    found = []
    first = 0
    for index, feature in enumerate(features):
        count = _one_hot_places(encoder, index)

        def place_of(outputs, first=first, count=count):
            # An id behind the last place where none is on.
            return [float(row.argmax()) if row.any() else float(count) for row in outputs[:, first:first + count]]
        encoded = _as_ids(_category(encoder, index, feature, place_of))
        found += [replace(encoded, kind="place", place=place, places=count) for place in range(count)]
        first += count
    return found


def _one_hot_places(encoder, index: int) -> int:
    count = len(encoder.categories_[index])
    rare = getattr(encoder, "infrequent_categories_", None)
    if rare is not None and rare[index] is not None:
        count -= len(rare[index]) - 1
    dropped = encoder.drop_idx_ is not None and encoder.drop_idx_[index] is not None
    return count - dropped


def _target(encoder, features, frame):
    if encoder.target_type_ == "multiclass":
        raise UnsupportedModel("TargetEncoder of several classes makes several numbers of a category, which a table.json "
                               f"cannot store; {WAY_OUT}")
    return [replace(_category(encoder, index, feature, lambda outputs, i=index: outputs[:, i].tolist()), kind="number")
            for index, feature in enumerate(features)]


def _label(encoder, features, frame):
    (feature,) = features
    known = [(cell_text(one), index) for index, one in enumerate(encoder.classes_) if not is_missing(one)]
    absent = [index for index, one in enumerate(encoder.classes_) if is_missing(one)]
    return [replace(feature, kind="id", words=tuple(word for word, _ in known), ids=tuple(index for _, index in known),
                    missing={"how": "id", "id": absent[0]} if absent else {"how": "refuse"})]


TRANSFORMERS = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _column_transformer,
    "StandardScaler": _scaled(_standard),
    "MinMaxScaler": _scaled(_min_max),
    "MaxAbsScaler": _scaled(_max_abs),
    "RobustScaler": _scaled(_robust),
    "QuantileTransformer": _scaled(_quantile),
    "PowerTransformer": _scaled(_power),
    "KBinsDiscretizer": _bins,
    "FunctionTransformer": _function,
    "SimpleImputer": _imputer,
    "OrdinalEncoder": _ordinal,
    "OneHotEncoder": _one_hot,
    "TargetEncoder": _target,
    "LabelEncoder": _label,
}
