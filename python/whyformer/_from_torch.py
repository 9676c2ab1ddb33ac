"""Models that are in memory: weights are handed over as they lie there; unknown architectures go through ONNX."""

from __future__ import annotations

import json
import os
import tempfile

from . import _native
from ._model import Model
from ._native import InvalidInput, UnsupportedModel


def load_module(module, *, tokenizer=None, processor=None, example=None, name: str | None = None) -> Model:
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    _check_weights(module)
    _check_readers(module, tokenizer, processor)
    name = name or os.path.basename(getattr(module, "name_or_path", "") or "") or type(module).__name__
    documents = _documents(module, tokenizer, processor)
    unknown = None
    if _is_as_published(module):
        try:
            return Model(_native.Model.load_parts(name, documents, _weights(module)))
        except UnsupportedModel as error:
            unknown = error
    from ._from_onnx_export import load_exported

    try:
        return load_exported(module, documents, tokenizer, example, name)
    except UnsupportedModel as error:
        raise UnsupportedModel(f"{unknown}; through ONNX: {error}" if unknown else str(error)) from error


def is_transformers(module) -> bool:
    return hasattr(module, "config") and hasattr(module.config, "to_json_string")


def _is_as_published(module) -> bool:
    """Whether names of weights tell the whole model: a part of someone's own may compute anything."""
    own = ("transformers.", "torch.nn.modules.")
    return is_transformers(module) and all(type(part).__module__.startswith(own) for part in module.modules())


def _check_weights(module) -> None:
    if getattr(module, "is_quantized", False):
        raise UnsupportedModel("the model is quantised in memory: load it without quantization_config")
    for key, tensor in module.state_dict().items():
        if tensor.is_meta:
            raise InvalidInput(f"the weight '{key}' is on PyTorch's meta device, which holds no numbers: load the model "
                               "with its weights, on the CPU")


def _check_readers(module, tokenizer, processor) -> None:
    """What turns texts and pictures into numbers belongs to the model: a wrong guess would explain another input."""
    if tokenizer is not None and not hasattr(tokenizer, "save_pretrained"):
        raise InvalidInput(f"tokenizer= is one of transformers, not {type(tokenizer).__name__}: wrap your own as "
                           "PreTrainedTokenizerFast(tokenizer_object=...)")
    if is_transformers(module) and tokenizer is None and processor is None:
        if getattr(module, "main_input_name", "") == "pixel_values":
            raise InvalidInput(f"{type(module).__name__} reads pictures: give its image processor, processor=...")
        raise InvalidInput(f"{type(module).__name__} reads texts: give its tokenizer, tokenizer=...")


def _documents(module, tokenizer, processor) -> dict[str, str]:
    """The small files of a HuggingFace folder, by name."""
    config = {}
    if is_transformers(module):
        config = json.loads(module.config.to_json_string(use_diff=False))
    config["architectures"] = [type(module).__name__]
    documents = {"config.json": json.dumps(config)}
    if isinstance(processor, dict):
        documents["preprocessor_config.json"] = json.dumps({"image_processor_type": "ViTImageProcessor", **processor})
        processor = None
    with tempfile.TemporaryDirectory() as folder:
        for part in (processor, tokenizer):
            if part is not None:
                part.save_pretrained(folder)
        for entry in os.scandir(folder):
            if entry.name.endswith((".json", ".txt")):
                with open(entry.path, encoding="utf-8") as file:
                    documents[entry.name] = file.read()
    return documents


def _weights(module) -> dict[str, _native.ArrayView]:
    """The tensors themselves by name, unless they are on another device or have gaps."""
    weights = {}
    for key, tensor in module.state_dict().items():
        try:
            weights[key] = _native.ArrayView(tensor.detach().cpu().contiguous())
        except TypeError:
            raise UnsupportedModel(f"the weight '{key}' has the type {tensor.dtype}, which is not supported") from None
    return weights
