"""What the prepared data of table packages make of a table's columns, as Features.

Read are pytorch_tabular's TabularDatamodule (datamodule.sav of a saved model), pytorch-widedeep's TabPreprocessor,
torch_frame's Dataset, lit-saint's SaintDatamodule, and SaintPreparation for SAINT's own data_openml.py, which keeps nothing.
Each is also asked what it makes of rows, so that the description is compared with the package itself.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ._cells import cell_text, is_missing
from ._from_sklearn import WAY_OUT, Feature, as_number, ordinal_feature, through
from ._native import InvalidInput, UnsupportedModel


@dataclass(frozen=True)
class Package:
    """How objects of a package are read. All three take the object; the first two the frame, too."""
    features: object
    transformed: object
    labels: object


def package_of(preprocessing) -> Package | None:
    """Nothing for what belongs to none of them."""
    for kind in type(preprocessing).__mro__:
        found = PACKAGES.get((kind.__module__.split(".")[0], kind.__name__))
        if found is not None:
            return found
    return None


def package_labels(preprocessing) -> list | None:
    """Names of the classes, where the object knows them."""
    package = package_of(preprocessing)
    return package.labels(preprocessing) if package is not None else None


def _column(name, frame) -> Feature:
    if str(name) not in frame.columns:
        raise InvalidInput(f"the preprocessing reads the column {str(name)!r}, which the frame does not have")
    return Feature(str(name))


def _as_id(number) -> dict:
    return {"how": "id", "id": int(number)}


# pytorch_tabular

def _tabular_features(data, frame):
    config = data.config
    if config.encode_date_columns and config.date_columns:
        raise UnsupportedModel(f"TabularDatamodule makes several columns of a date; {WAY_OUT}")
    numbers = [as_number(_column(name, frame), frame) for name in config.continuous_cols]
    if config.continuous_feature_transform is not None and numbers:
        numbers = through(data.continuous_transform, numbers, frame)
    if config.normalize_continuous_features and numbers:
        numbers = through(data.scaler, numbers, frame)
    return numbers + [_tabular_category(data.categorical_encoder, name, frame) for name in config.categorical_cols]


def _tabular_category(encoder, name, frame) -> Feature:
    """Missing cells are looked up as 0; what is not found has the id 0."""
    feature = _column(name, frame)
    ids = {key: int(value) for key, value in encoder._mapping[name]["value"].items() if not is_missing(key)}
    numbers = all(isinstance(one, (int, float, np.number)) for one in frame[feature.column].dropna().unique())
    words = [key for key in ids if numbers or isinstance(key, str) or key != 0]
    unknown = _as_id(0) if encoder.handle_unseen == "impute" else {"how": "refuse"}
    missing = {"how": "refuse"} if encoder.handle_missing == "error" else _as_id(ids[0]) if 0 in ids else unknown
    return replace(feature, kind="id", words=tuple(cell_text(one) for one in words), ids=tuple(ids[one] for one in words),
                   missing=missing, unknown=unknown)


def _tabular_transformed(data, frame):
    config = data.config
    numbers = list(config.continuous_cols)
    rows = frame.drop(columns=[name for name in config.target or [] if name in frame.columns])
    rows = rows.astype({name: "float64" for name in numbers})
    found = data.preprocess_data(rows, stage="inference")[0]
    return found[numbers + list(config.categorical_cols)].to_numpy(dtype=np.float64)


def _tabular_labels(data):
    encoders = data.label_encoder or []
    return [cell_text(one) for one in encoders[0].classes_] if len(encoders) == 1 else None


# pytorch-widedeep

CLASS_COLUMN = "cls_token"  # which the package puts in front; it is no column of the table


def _widedeep_features(data, frame):
    if getattr(data, "cols_and_bins", None) is not None:
        raise UnsupportedModel(f"TabPreprocessor with quantization_setup makes categories of numbers; {WAY_OUT}")
    if data.with_cls_token and data.shared_embed:
        raise UnsupportedModel("TabPreprocessor with a class token and shared embeddings is not supported: train without one")
    words = [_widedeep_category(data.label_encoder, name, frame) for name in _widedeep_categories(data)]
    numbers = [as_number(_column(name, frame), frame) for name in data.continuous_cols or []]
    scaled = list(getattr(data, "standardize_cols", None) or [])
    by_name = dict(zip(scaled, through(data.scaler, [one for one in numbers if one.column in scaled], frame))) if scaled else {}
    return words + [by_name.get(one.column, one) for one in numbers]


def _widedeep_categories(data) -> list:
    return [name for name in (data.cat_cols if data.cat_embed_cols is not None else []) if name != CLASS_COLUMN]


def _widedeep_category(encoder, name, frame) -> Feature:
    ids = encoder.encoding_dict[name]
    words = [one for one in ids if not is_missing(one)]
    absent = [ids[one] for one in ids if is_missing(one)]
    return replace(_column(name, frame), kind="id", words=tuple(cell_text(one) for one in words),
                   ids=tuple(int(ids[one]) for one in words), missing=_as_id(absent[0] if absent else 0), unknown=_as_id(0))


def _widedeep_transformed(data, frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.asarray(data.transform(frame.copy()), dtype=np.float64)
    names = [*(data.cat_cols if data.cat_embed_cols is not None else []), *(data.continuous_cols or [])]
    return np.delete(found, [place for place, name in enumerate(names) if name == CLASS_COLUMN], axis=1)


# torch_frame

def _torch_frame_columns(data) -> tuple[list[str], list[str]]:
    """Numbers and categories, in the order of its tensors."""
    kinds = {name: stype.value for name, stype in data.col_to_stype.items() if name != data.target_col}
    other = {name: kind for name, kind in kinds.items() if kind not in ("numerical", "categorical")}
    if other:
        name, kind = next(iter(other.items()))
        raise UnsupportedModel(f"column '{name}' of the Dataset is {kind}; numerical and categorical ones can be described")
    return tuple(sorted(name for name, kind in kinds.items() if kind == wanted) for wanted in ("numerical", "categorical"))


def _torch_frame_features(data, frame):
    if not data.is_materialized:
        raise InvalidInput("the Dataset has no statistics of its columns yet: call materialize() first")
    numbers, categories = _torch_frame_columns(data)
    found = [replace(as_number(_column(name, frame), frame), missing={"how": "nan"}) for name in numbers]
    for name in categories:
        # Ids are places in the order of frequencies; what is not among them counts as missing.
        words = next(value for key, value in data.col_stats[name].items() if key.value == "COUNT")[0]
        found.append(replace(_column(name, frame), kind="id", words=tuple(cell_text(one) for one in words),
                             ids=tuple(range(len(words)))))
    return found


def _torch_frame_transformed(data, frame):
    numbers, categories = _torch_frame_columns(data)
    rows = frame if data.target_col is None or data.target_col in frame.columns else \
        frame.assign(**{data.target_col: data.df[data.target_col].iloc[0]})
    found = data.convert_to_tensor_frame(rows).feat_dict
    by_kind = {stype.value: tensor.numpy().astype(np.float64) for stype, tensor in found.items()}
    parts = [by_kind[kind] for kind, names in (("numerical", numbers), ("categorical", categories)) if names]
    return np.concatenate(parts, axis=1)


def _torch_frame_labels(data):
    stype = data.col_to_stype.get(data.target_col)
    if stype is None or stype.value != "categorical":
        return None
    return [cell_text(one) for one in
            next(value for key, value in data.col_stats[data.target_col].items() if key.value == "COUNT")[0]]


# lit-saint

def _lit_saint_features(data, frame):
    # Numbers without a value are 0 before the scaler.
    numbers = [as_number(replace(_column(name, frame), fill=0.0), frame) for name in data.numerical_columns]
    if numbers:
        numbers = through(data.scaler, numbers, frame)
    words = [ordinal_feature(data.dict_label_encoder[name], replace(_column(name, frame), fill=data.NAN_LABEL))
             for name in data.categorical_columns]
    return numbers + words


def _lit_saint_transformed(data, frame):
    own = copy.copy(data)
    own.set_predict_set(frame.drop(columns=[data.target], errors="ignore"))
    parts = []
    if data.numerical_columns:
        parts.append(data.scaler.transform(own.predict_set[data.numerical_columns].to_numpy(dtype=np.float64)))
    if data.categorical_columns:
        parts.append(own.predict_set[data.categorical_columns].to_numpy(dtype=np.float64))
    return np.concatenate(parts, axis=1)


def _lit_saint_labels(data):
    encoder = data.dict_label_encoder.get(data.target)
    return None if encoder is None else [cell_text(one) for one in encoder.categories_[0] if one != data.NAN_LABEL]


# SAINT

class SaintPreparation:
    """What SAINT's data_openml.py makes of a table, which keeps neither its encoders nor its names.

    frame        all rows as they were, of the columns that the model reads
    categorical  names of the columns of words
    training     places of the training rows, by which numbers are standardised; all, where left out

    Ids of categories are those of a LabelEncoder over all rows. Cells without a value have vectors of the model's own: save
    the model with missing="mask".
    """

    def __init__(self, frame, categorical, training=None):
        self.categorical = [str(name) for name in categorical]
        named = frame.set_axis([str(name) for name in frame.columns], axis=1)
        self.numbers = [name for name in named.columns if name not in self.categorical]
        missing = "MissingValue"
        self.classes = {name: sorted({cell_text(one) or missing for one in named[name]}) for name in self.categorical}
        rows = named[self.numbers].iloc[slice(None) if training is None else training].astype("float64")
        if self.numbers:
            # Its fillna fills every column with the mean of the first one.
            rows = rows.fillna(rows[self.numbers[0]].mean())
        values = rows.to_numpy(dtype=np.float32)
        self.means, deviations = values.mean(0), values.std(0)
        self.deviations = np.where(deviations < 1e-6, 1e-6, deviations)

    def features(self, frame) -> list[Feature]:
        found = []
        for name, mean, deviation in zip(self.numbers, self.means, self.deviations):
            step = {"op": "standard", "mean": float(mean), "scale": float(deviation)}
            found.append(replace(as_number(_column(name, frame), frame), missing={"how": "nan"}, steps=(step,)))
        for name in self.categorical:
            words = [(word, place) for place, word in enumerate(self.classes[name]) if word != "MissingValue"]
            found.append(replace(_column(name, frame), kind="id", words=tuple(word for word, _ in words),
                                 ids=tuple(place for _, place in words)))
        return found

    def transformed(self, frame) -> np.ndarray:
        numbers = (frame[self.numbers].to_numpy(dtype=np.float64) - self.means) / self.deviations
        ids = [[self.classes[name].index(cell_text(one) or "MissingValue") for one in frame[name]] for name in self.categorical]
        return np.concatenate([numbers, np.array(ids, dtype=np.float64).reshape(len(ids), len(frame)).T], axis=1)


PACKAGES = {
    ("pytorch_tabular", "TabularDatamodule"): Package(_tabular_features, _tabular_transformed, _tabular_labels),
    ("pytorch_widedeep", "TabPreprocessor"): Package(_widedeep_features, _widedeep_transformed, lambda data: None),
    ("torch_frame", "Dataset"): Package(_torch_frame_features, _torch_frame_transformed, _torch_frame_labels),
    ("lit_saint", "SaintDatamodule"): Package(_lit_saint_features, _lit_saint_transformed, _lit_saint_labels),
    ("whyformer", "SaintPreparation"): Package(SaintPreparation.features, SaintPreparation.transformed, lambda data: None),
}
