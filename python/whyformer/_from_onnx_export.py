"""Torch modules that PyTorch exports to ONNX, and Whyformer imports."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import logging
import os
import tempfile
import warnings
from collections.abc import Mapping

import numpy as np

from . import _native
from ._model import Model
from ._native import InvalidInput, UnsupportedModel

_EXAMPLE_TEXT = "an example of a text"
# Of other lengths, so that a length which the exporter froze shows.
_CHECKED_TEXTS = ("a", "a text", "a text of four words", "and here is one that is longer than the others")


def load_exported(module, documents: Mapping[str, str], tokenizer, example, name: str) -> Model:
    with _as_when_answering(module):
        given = _given(module, tokenizer, example)
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.join(folder, os.path.basename(name) or "model")
            os.mkdir(folder)
            for file, text in documents.items():
                with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                    out.write(text)
            _export(module, given, tokenizer is not None, os.path.join(folder, "model.onnx"))
            try:
                # What is loaded stays mapped when the folder goes.
                model = Model(_native.Model.load(folder))
                if model.reads == "arrays":
                    model(_EXAMPLE_TEXT)  # says why it reads nothing else
                _check_answers(module, given, tokenizer, model)
            except InvalidInput as error:
                raise UnsupportedModel(f"the exporter kept a length of its example ({error}){_better_exporter()}") from error
    return model


@contextlib.contextmanager
def _as_when_answering(module):
    """Without dropout and gradients, nor the fused layers that no exporter knows. Modes of all parts come back."""
    import torch

    modes = [(part, part.training) for part in module.modules()]
    fused = torch.backends.mha.get_fastpath_enabled()
    module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
        for part, training in modes:
            part.training = training


def _given(module, tokenizer, example) -> dict:
    """Tensors by the names of forward's arguments, two inputs at once: exporters freeze a batch of one."""
    import torch

    if example is None and tokenizer is not None:
        given = _tokens(module, tokenizer, _EXAMPLE_TEXT)
    elif example is None:
        raise InvalidInput("this torch module is exported to ONNX, which needs an input to follow: give example=tensor, "
                           "a tuple of tensors, or a dictionary of them by the names of forward's arguments")
    elif isinstance(example, Mapping):
        given = dict(example)
    else:
        positional = example if isinstance(example, (list, tuple)) else (example,)
        given = dict(inspect.signature(module.forward).bind(*positional).arguments)
    for key, tensor in given.items():
        if not isinstance(tensor, torch.Tensor):
            raise InvalidInput(f"example= has {key}={type(tensor).__name__}: give tensors")
    return {key: torch.cat([tensor, tensor]) if tensor.ndim and len(tensor) == 1 else tensor
            for key, tensor in given.items()}


def _tokens(module, tokenizer, text: str) -> dict:
    """A text as the module takes it: by the tokenizer's names, or the ids alone as the first argument."""
    device = next((weight.device for weight in module.parameters()), "cpu")
    tokens = {key: tensor.to(device) for key, tensor in tokenizer(text, return_tensors="pt").items()}
    names = list(inspect.signature(module.forward).parameters)
    taken = {key: tensor for key, tensor in tokens.items() if key in names}
    return taken if "input_ids" in taken else {names[0]: tokens["input_ids"], **taken}


def _answer_of(given):
    """The logits, or the first tensor that a module gives."""
    import torch

    if isinstance(given, torch.Tensor):
        return given
    return given[_name_of_answer(given)] if isinstance(given, Mapping) else given[0]


def _name_of_answer(given) -> str:
    """Hidden states keep their name: they are no answers."""
    if not isinstance(given, Mapping) or given.get("logits") is not None:
        return "logits"
    return next(iter(given))


def _positional(module, names):
    """The module with one output, and tensors as arguments, which all exporters take."""
    import torch

    class Positional(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *tensors):
            return _answer_of(self.module(**dict(zip(names, tensors))))

    return Positional().eval()


def _file_names(given: dict, reads_texts: bool) -> list[str]:
    """Text models are known by an input called input_ids."""
    names = list(given)
    if reads_texts and "input_ids" not in names:
        others = ("mask", "type", "segment", "position")
        ids = next((key for key, tensor in given.items() if not tensor.is_floating_point()
                    and not any(word in key for word in others)), None)
        if ids is None:
            raise InvalidInput(f"a model of texts takes token ids, but example= has {', '.join(names)} only")
        names[names.index(ids)] = "input_ids"
    return names


def _export(module, given: dict, reads_texts: bool, path: str) -> None:
    wrapped, tensors, names = _positional(module, list(given)), tuple(given.values()), _file_names(given, reads_texts)
    output = _name_of_answer(module(**given))  # mistakes in forward show as they are
    # Texts may have any length; tokens are the second axis. Tables have the columns that they have.
    axes = [(0, 1) if reads_texts and tensor.ndim == 2 else (0,) for tensor in tensors]
    failures = []
    for export in (_export_by_dynamo, _export_by_tracing):
        try:
            with _quiet():
                export(wrapped, tensors, names, output, axes, path)
            return
        except Exception as error:  # exporters raise whatever they meet
            failures.append(f"{export.__doc__}: {_first_line(error)}")
    raise UnsupportedModel(f"PyTorch could not export the module to ONNX ({'; '.join(failures)})")


def _export_by_dynamo(wrapped, tensors, names, output, axes, path) -> None:
    """torch.onnx.export(dynamo=True)"""
    import torch

    if importlib.util.find_spec("onnxscript") is None:
        raise ImportError("needs `pip install onnxscript`")
    dynamic = torch.export.Dim.DYNAMIC
    torch.onnx.export(wrapped, tensors, path, input_names=names, output_names=[output], dynamo=True, verbose=False,
                      dynamic_shapes={"tensors": tuple({axis: dynamic for axis in one} for one in axes)})


def _export_by_tracing(wrapped, tensors, names, output, axes, path) -> None:
    """torch.onnx.export(dynamo=False)"""
    import torch

    called = {0: "batch", 1: "tokens"}
    torch.onnx.export(wrapped, tensors, path, input_names=names, output_names=[output], dynamo=False, opset_version=17,
                      dynamic_axes={name: {axis: called[axis] for axis in one} for name, one in zip(names, axes)})


@contextlib.contextmanager
def _quiet():
    """Exporters tell much about themselves that users of Whyformer cannot act on."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _check_answers(module, given: dict, tokenizer, model: Model) -> None:
    """Tracing keeps lengths and branches of the example: such a file must not pass for the module."""
    if tokenizer is not None:
        inputs = [(text, _tokens(module, tokenizer, text)) for text in _CHECKED_TEXTS]
        # Others than the tokenizer's only the user can make.
        checked = [one for one in inputs if set(one[1]) == set(given)]
    elif model.reads == "tables":
        rows = np.concatenate([tensor.double().cpu().numpy() for tensor in given.values()], axis=1)
        checked = [(row, {key: tensor[index:index + 1] for key, tensor in given.items()})
                   for index, row in enumerate(rows[:4])]
    else:
        return  # pictures have one size
    for x, tensors in checked:
        answer = _answer_of(module(**tensors))
        if answer.ndim > 2:
            return  # vectors of tokens: pooled by the reader
        expected, found = answer[0].double().cpu().numpy(), np.asarray(model(x))
        # Weights of 16 bits are computed with in 16 bits there, in 32 here.
        tolerance = 1e-3 if answer.element_size() >= 4 else 5e-2
        if np.abs(found - expected).max() > tolerance * max(1.0, np.abs(expected).max()):
            raise UnsupportedModel(f"exported to ONNX, the module answers {found} to {x!r} instead of {expected}: the "
                                   f"exporter kept something of its example{_better_exporter()}")


def _better_exporter() -> str:
    return "" if importlib.util.find_spec("onnxscript") else ": `pip install onnxscript`, whose exporter follows more"
