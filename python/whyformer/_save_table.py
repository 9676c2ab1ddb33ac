"""A folder with everything that explains a table model: weights, table.json, background."""

from __future__ import annotations

import csv
import inspect
import json
import os
import tempfile
from collections.abc import Mapping

import numpy as np

from . import _native
from ._cells import cell_rows
from ._model import Model
from ._native import Error, InvalidInput, UnsupportedModel
from ._tables import TableSpec, described, model_inputs, readable_rows, with_text_names

TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
         "uint8": "U8", "bool": "BOOL"}
# What packages call the numbers and the ids of categories.
NUMBERS = ("x_cont", "x_num", "x_numer", "x_numerical", "x_continuous", "x_cont_", "continuous")
CATEGORIES = ("x_cat", "x_categ", "x_categorical", "x_cat_", "categorical")
TOLERANCE = 1e-5


def save_table_model(folder, module, *, frame, preprocessing=None, labels=None, task: str | None = None, context=None,
                     forward=None, heads: int | None = None, family: str | None = None, activation: str | None = None,
                     head_activation: str | None = None, output: str | None = None, missing: str = "refuse", **options) -> Model:
    """Writes a folder that `whyformer.load` and the command line read, and checks that it answers as the module does.

    folder         gets model.safetensors, table.json with a probe, background.csv (100 rows of the frame)
    module         a trained model of a table package (rtdl_revisiting_models.FTTransformer, …)
    frame          training rows as they were before the preprocessing
    context        rows that attend to the explained one (SAINT): a DataFrame, also with the column that name= calls, whose
                   labels explanations by rows sum scores by. The module is called row by row, without it
    forward        how the module is called, where its forward does not tell: forward(x_cont, x_cat)
    missing        "mask": of cells that nothing fills in, the model has vectors of its own (SAINT); forward is then called
                   with a third argument, [rows, numbers and then categories], 1 where a cell has no value
    heads, family, activation, head_activation  of the model, where they are not found

    The other arguments are those of `describe_table`. Gives the loaded model.
    """
    spec, placed = described(frame, preprocessing, labels, task, output=output, **options)
    call = _Caller(module, forward)
    masked = _mask_missing(spec, missing)
    chosen = _chosen_rows(spec, frame, 32)
    inputs = model_inputs(frame.iloc[chosen], preprocessing, placed)
    if masked:
        inputs = _with_mask(inputs, spec, frame.iloc[chosen])
    answers = call(inputs)
    _fit_task(spec, answers.shape[1], output)
    model = {"weights": "model.safetensors", "heads": heads if heads is not None else _heads(module), "family": family,
             "activation": activation, "head_activation": head_activation, "options": _options(module)}
    spec.fields["model"] = {name: value for name, value in model.items() if value is not None}
    names = [column["name"] for column in spec.columns]
    files = {"model.safetensors": safetensors(_tensors(module))}
    if context is not None:
        spec.fields["context"] = {"rows": "context.csv"}
        own = with_text_names(context)
        # The answers of its rows, by which explanations by rows sum scores.
        answer = [name for name in [spec.fields["task"].get("name")] if name in own.columns and name not in names]
        files["context.csv"] = _csv(own[names + answer])
    spec.fields["background"] = {"rows": "background.csv"}
    files["background.csv"] = _csv(with_text_names(frame.iloc[_drawn(len(frame), 100)])[names])
    rows = with_text_names(frame.iloc[chosen])[names]
    spec.fields["probe"] = {"rows": cell_rows(rows.head(8)), "outputs": answers[:8].tolist()}
    files["table.json"] = spec.to_json().encode()
    _check_before_writing(files, spec, rows, answers)
    os.makedirs(folder, exist_ok=True)
    for name, content in files.items():
        _native.save(os.path.join(os.fspath(folder), name), content)
    from ._loading import load

    return load(os.fspath(folder))


def context_files(context, context_mode: str | None):
    """What keeps the file of a context, and how the engine is told of it."""
    words = {"context_mode": context_mode or ""}
    if isinstance(context, str) and context in ("block", "alone"):
        return None, {**words, "context_rows": context}
    if context is None or isinstance(context, (str, os.PathLike)):
        return None, {**words, "context": "" if context is None else os.fspath(context)}
    if not hasattr(context, "columns"):
        raise InvalidInput('context= is a DataFrame, a CSV file, "block" or "alone", '
                           f"not {type(context).__name__}")
    kept = tempfile.TemporaryDirectory(prefix="whyformer-")
    path = os.path.join(kept.name, "context.csv")
    _native.save(path, _csv(with_text_names(context)))
    return kept, {**words, "context": path}


def load_with_table(source, table, name: str | None, context: dict | None = None) -> Model:
    """Weights in a file, or a module in memory, with the description of their table."""
    if not isinstance(table, (TableSpec, str, os.PathLike)):
        raise InvalidInput(f"table= is a table.json or what describe_table gives, not {type(table).__name__}")
    # The model reads its files again where it is asked for its hash, so they stay as long as it does.
    kept = tempfile.TemporaryDirectory(prefix="whyformer-")
    path = os.fspath(table) if not isinstance(table, TableSpec) else os.path.join(kept.name, "table.json")
    if isinstance(table, TableSpec):
        _native.save(path, table.to_json().encode())
    if isinstance(source, (str, os.PathLike)):
        found = Model(_native.Model.load(os.fspath(source), table_spec=path, **(context or {})), os.fspath(source), table=table)
    elif hasattr(source, "state_dict"):
        weights = os.path.join(kept.name, f"{name or type(source).__name__}.safetensors")
        _native.save(weights, safetensors(_tensors(source)))
        found = Model(_native.Model.load(weights, table_spec=path, **(context or {})))
    else:
        raise InvalidInput("table= goes with weights of a table model: a file, or a torch module")
    found._kept = kept
    return found


def _mask_missing(spec: TableSpec, missing: str) -> bool:
    """Whether cells without a value have vectors of the model's own; the description then says so."""
    if missing not in ("refuse", "mask"):
        raise InvalidInput(f"missing={missing!r}: cells that nothing fills in are refused, or have a \"mask\"")
    for column in spec.columns:
        if missing == "mask" and column["missing"]["how"] in ("refuse", "nan"):
            column["missing"] = {"how": "mask"}
    return missing == "mask"


def _with_mask(inputs: dict[str, np.ndarray], spec: TableSpec, frame) -> dict[str, np.ndarray]:
    """With a number for each of the model's: whether its cell has no value, and 0 in place of that."""
    holes = with_text_names(frame).isna()
    masks = {name: np.zeros(numbers.shape) for name, numbers in inputs.items()}
    for column in spec.columns:
        if column["missing"]["how"] == "mask":
            masks[column["input"]][:, column["at"]] = holes[[column["name"]]].to_numpy(dtype=float)
    parts = [masks[name] for name in ("x_cont", "x_cat") if name in masks]
    filled = {name: np.where(masks[name] > 0, 0, numbers) for name, numbers in inputs.items()}
    return {**filled, "x_missing": np.concatenate(parts, axis=1)}


class _Caller:
    """A module as a function of what the preprocessing gives, by the names of inputs."""

    def __init__(self, module, forward):
        self.module = getattr(module, "_orig_mod", module)
        self.forward = forward
        if forward is None:
            self.arguments = self._arguments()

    def _arguments(self) -> list[str]:
        if hasattr(self.module, "mlpfory"):
            raise InvalidInput(f"forward of {type(self.module).__name__} is the head of its training before (denoising), not "
                               "the classifier, which train.py calls as mlpfory on the first token: give forward=lambda "
                               "x_cont, x_cat: …, which embeds, runs the transformer and that head")
        names = list(inspect.signature(self.module.forward).parameters)[:2]
        known = ["x_cont" if name in NUMBERS else "x_cat" if name in CATEGORIES else "" for name in names]
        if not known or "" in known:
            raise InvalidInput(f"how {type(self.module).__name__} is called is not known: give forward=lambda x_cont, x_cat: "
                               "…, which calls the module")
        return known

    def __call__(self, arrays: dict) -> np.ndarray:
        """Answers, [rows, outputs]."""
        count = len(next(iter(arrays.values())))
        # Row by row: in some models the rows of a batch attend to each other.
        return np.concatenate([self._answer({name: numbers[[row]] for name, numbers in arrays.items()})
                               for row in range(count)])

    def _answer(self, arrays: dict) -> np.ndarray:
        import torch

        parameter = next(self.module.parameters())
        given = {name: torch.as_tensor(np.ascontiguousarray(numbers)).to(parameter.device)
                 for name, numbers in arrays.items()}
        inputs = {"x_cont": None if "x_cont" not in given else given["x_cont"].to(parameter.dtype),
                  "x_cat": None if "x_cat" not in given else given["x_cat"].to(torch.int64)}
        training = self.module.training
        self.module.eval()
        try:
            with torch.no_grad():
                if self.forward is not None:
                    mask = [given["x_missing"].to(parameter.dtype)] if "x_missing" in given else []
                    found = self.forward(inputs["x_cont"], inputs["x_cat"], *mask)
                elif "x_missing" in given:
                    raise InvalidInput('missing="mask" needs forward=lambda x_cont, x_cat, missing: …, which calls the module')
                else:
                    found = self.module(*(inputs[name] for name in self.arguments))
        finally:
            self.module.train(training)
        if isinstance(found, Mapping):
            found = found["logits"]
        found = found[0] if isinstance(found, (tuple, list)) else getattr(found, "logits", found)
        return found.detach().cpu().to(torch.float64).numpy().reshape(len(next(iter(arrays.values()))), -1)


def _fit_task(spec: TableSpec, outputs: int, given: str | None) -> None:
    """One logit or two, by how many numbers the module gives."""
    task = spec.fields["task"]
    if task["kind"] == "binary" and given is None:
        task["output"] = "one-logit" if outputs == 1 else "logits"
    labels = task.get("labels", [])
    expected = 1 if task["output"] == "one-logit" else len(labels)
    if labels and task["kind"] != "regression" and outputs != expected:
        raise InvalidInput(f"the module gives {outputs} numbers, but there are {len(labels)} labels")


def _chosen_rows(spec: TableSpec, frame, count: int) -> np.ndarray:
    """Places of rows that the model can read; those with missing cells first, so that a probe has some."""
    rows = readable_rows(spec, frame, 2000)
    if len(rows) < 4:
        raise InvalidInput("the frame has fewer than four rows without missing cells that nothing fills in")
    names = [column["name"] for column in spec.columns]
    holes = with_text_names(frame)[names].iloc[rows].isna().any(axis=1).to_numpy(dtype=bool)
    order = np.concatenate([np.flatnonzero(holes)[:4], np.flatnonzero(~holes), np.flatnonzero(holes)[4:]])
    return rows[order[:count]]


def _drawn(rows: int, count: int) -> np.ndarray:
    """As shap draws a background: seed 0."""
    return np.arange(rows) if rows <= count else np.random.RandomState(0).permutation(rows)[:count]


def _heads(module) -> int | None:
    """Where all attention layers say the same."""
    found = {getattr(part, name) for part in module.modules() for name in ("_n_heads", "n_heads", "num_heads", "heads")
             if isinstance(getattr(part, name, None), int)}
    return found.pop() if len(found) == 1 else None


def _options(module) -> dict | None:
    """What pytorch_tabular keeps beside the weights of a regression."""
    given = getattr(getattr(module, "hparams", None), "target_range", None)
    return {"target_range": [float(end) for one in given for end in one]} if given else None


def _tensors(module) -> dict[str, np.ndarray]:
    found = {}
    for name, tensor in getattr(module, "_orig_mod", module).state_dict().items():
        if not hasattr(tensor, "detach"):
            continue
        tensor = tensor.detach().cpu()
        found[name] = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return found


def safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    header, parts, at = {}, [], 0
    for name, array in tensors.items():
        if str(array.dtype) not in TYPES:
            raise UnsupportedModel(f"the weight '{name}' has the type {array.dtype}, which is not supported")
        part = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": TYPES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def _csv(frame) -> bytes:
    import io

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([str(name) for name in frame.columns])
    writer.writerows(cell_rows(frame))
    return text.getvalue().encode()


def _check_before_writing(files: dict[str, bytes], spec: TableSpec, rows, answers: np.ndarray) -> None:
    """That the folder, loaded again, answers as the module did."""
    with tempfile.TemporaryDirectory(prefix="whyformer-") as folder:
        for name, content in files.items():
            _native.save(os.path.join(folder, name), content)
        # As the module was called: row by row.
        model = Model(_native.Model.load(folder), folder)
        if model._native.rows_attend:
            model = Model(_native.Model.load(folder, context_rows="alone"), folder)
        task = spec.fields["task"]
        found = np.array([one.values for one in model(rows, progress=False)])
    if task["output"] == "one-logit":
        found = found[:, 1:]
    scale = task.get("scale", {"mean": 0.0, "std": 1.0})
    found = (found - scale["mean"]) / scale["std"]
    gap = np.max(np.abs(found - answers) / np.maximum(1, np.abs(answers)))
    if not gap <= TOLERANCE:
        raise Error(f"the saved model answers otherwise than the module: {gap:.2g} off on {len(rows)} rows; nothing was "
                    "written. Something that the weights do not tell is read wrong (heads=, activation=, head_activation=, "
                    "family=)")
