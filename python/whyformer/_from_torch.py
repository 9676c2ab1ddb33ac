"""Models that are in memory: weights are handed over as they lie there; unknown architectures go through ONNX."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping

from . import _native
from ._model import Model
from ._native import InvalidInput, UnsupportedModel

# As safetensors calls them.
_TYPES = {"torch.float32": "F32", "torch.float16": "F16", "torch.bfloat16": "BF16", "torch.float64": "F64",
          "torch.int64": "I64", "torch.int32": "I32", "torch.uint8": "U8", "torch.int8": "I8", "torch.bool": "BOOL"}


def load_module(module, *, tokenizer=None, processor=None, example=None, name: str | None = None) -> Model:
    if not _is_transformers(module):
        return _through_onnx(module, {}, example, name or type(module).__name__)
    documents = _documents(module.config, type(module).__name__, tokenizer, processor)
    name = name or os.path.basename(getattr(module, "name_or_path", "") or "") or type(module).__name__
    try:
        return Model(_native.load_parts(name, documents, _weights(module)))
    except UnsupportedModel as unknown:
        # Known architectures end above; whatever else can run is exported.
        try:
            return _through_onnx(module, documents, example or _example_for(module, tokenizer, processor), name)
        except ImportError as missing:
            raise UnsupportedModel(f"{unknown}; exporting it to ONNX instead failed: {missing}") from unknown


def _is_transformers(module) -> bool:
    return hasattr(module, "config") and hasattr(module.config, "save_pretrained")


def _documents(config, class_name: str, tokenizer, processor) -> dict[str, str]:
    """The small files of a HuggingFace folder, by name."""
    with tempfile.TemporaryDirectory() as folder:
        architectures = config.architectures
        try:
            config.architectures = [class_name]
            config.save_pretrained(folder)
        finally:
            config.architectures = architectures
        for part in (tokenizer, processor):
            if part is not None:
                part.save_pretrained(folder)
        documents = {}
        for entry in os.scandir(folder):
            if entry.is_file() and not entry.name.endswith((".model", ".spm", ".bin")):
                with open(entry.path, encoding="utf-8") as file:
                    documents[entry.name] = file.read()
    return documents


def _weights(module) -> list[tuple]:
    """(name, type, shape, tensor): the tensors themselves, unless they are on another device or have gaps."""
    state = dict(module.state_dict())
    try:
        # transformers 5 names weights in memory otherwise than in files.
        from transformers.core_model_loading import revert_weight_conversion

        state = revert_weight_conversion(module, state)
    except ImportError:
        pass
    weights = []
    for key, tensor in state.items():
        kind = _TYPES.get(str(tensor.dtype))
        if kind is None:
            raise UnsupportedModel(f"the weight '{key}' has the type {tensor.dtype}: load the model without quantisation")
        weights.append((key, kind, list(tensor.shape), tensor.detach().cpu().contiguous()))
    return weights


def _example_for(module, tokenizer, processor):
    if tokenizer is not None:
        return dict(tokenizer("an example of a text", return_tensors="pt"))
    if processor is not None:
        import torch

        size = getattr(module.config, "image_size", 224)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        return dict(pixel_values=torch.zeros(1, getattr(module.config, "num_channels", 3), height, width))
    raise InvalidInput("this model is exported to ONNX, which needs an input to follow: give tokenizer=, processor= or "
                       "example=")


def _through_onnx(module, documents: Mapping[str, str], example, name: str) -> Model:
    if example is None:
        raise InvalidInput("a torch module is exported to ONNX, which needs an input to follow: give example=tensor, "
                           "a tuple of them, or a dictionary by the names of forward's arguments")
    with tempfile.TemporaryDirectory() as folder:
        for file, text in documents.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        path = os.path.join(folder, f"{name}.onnx" if not documents else "model.onnx")
        _export(module, example, path)
        # What is loaded stays mapped when the folder goes.
        return Model(_native.Model.load(folder if documents else path))


def _export(module, example, path: str) -> None:
    import torch

    named = isinstance(example, Mapping)
    positional = () if named else tuple(example) if isinstance(example, (list, tuple)) else (example,)
    keywords = dict(example) if named else {}
    given = list(keywords) if named else [f"input{index}" for index in range(len(positional))]
    tensors = list(keywords.values()) if named else list(positional)
    # Texts may have any length; tokens are the second axis.
    lengths = {key: {0: "batch", 1: "tokens"} for key, tensor in zip(given, tensors)
               if tensor.ndim == 2 and not tensor.is_floating_point()}
    lengths.update({key: {0: "batch"} for key in given if key not in lengths})
    training = module.training
    module.eval()
    try:
        with torch.no_grad():
            torch.onnx.export(_Logits(module), positional, path, kwargs=keywords or None, input_names=given,
                              output_names=["logits"], dynamic_axes=lengths, dynamo=False, opset_version=17)
    finally:
        module.train(training)


def _Logits(module):
    """The module with one output: its logits, or the first it gives."""
    import torch

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *positional, **keywords):
            given = self.module(*positional, **keywords)
            if isinstance(given, torch.Tensor):
                return given
            logits = given.get("logits") if isinstance(given, Mapping) else None
            return given[0] if logits is None else logits

    return Wrapped().eval()
