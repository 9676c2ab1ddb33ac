"""Where models come from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from . import _native
from ._inputs import refuse
from ._model import Model
from ._model_summary import ModelSummary
from ._native import FileError, InvalidInput, LengthsDoNotFit, UnsupportedModel

BUILT_IN = {"sentiment": _native.Model.built_in, "pictures": _native.Model.built_in_for_pictures,
            "income": _native.Model.built_in_for_tables}


def load(source="sentiment", *, arrays: bool = False, batch_axes: Mapping[str, int | None] | None = None, tokenizer=None,
         processor=None, example=None, name: str | None = None, output: str | None = None, table=None,
         context=None, context_mode: str | None = None) -> Model:
    """A model, from

    - a HuggingFace folder, an ONNX file, or a folder with one: its path;
    - a folder with table.json, as `save_table_model` writes it; weights of a table model alone with `table=`, which is a
      table.json or what `describe_table` gives;
    - the package: "sentiment" judges sentences, "pictures" names painted things, "income" judges rows of a census;
    - memory: a `torch.nn.Module` of a table package with `table=`;
    - memory: a `transformers` model with its `tokenizer=`, or its image `processor=`. Weights are read where they lie, and
      matrices packed when they first run: load again after training on;
    - memory: any other `torch.nn.Module`, which PyTorch exports to ONNX: one that reads texts with a transformers
      `tokenizer=`, others with `example=` (a tensor, a tuple, or a dictionary by forward's arguments) and, for pictures,
      `processor=` (also a dictionary as in preprocessor_config.json).

    `context=` is for table models whose rows attend to each other (SAINT): the rows that an explained one attends to, as a
    DataFrame or a CSV file; "block", the others of its block of the table; or "alone". By default it is what table.json
    says, else "block". `context_mode="live"` lets them see the explained row, too; "frozen" does not.

    ONNX files that take something else than texts, pictures or rows (T5, DETR, …) or come without their tokenizer read
    arrays by the names of their inputs; `arrays=True` asks for that with any ONNX file. `batch_axes={"x": 1}` then says along which axis an input holds
    several samples (None: along none), where that is not to be found in the graph.

    `output=` names the output of an ONNX file to explain. By default it is the logits; else what the file gives for the
    whole input, such as "sentence_embedding"; else the vectors of its tokens, pooled.
    """
    if output is not None and (arrays or not isinstance(source, (str, os.PathLike)) or os.fspath(source) in BUILT_IN):
        raise InvalidInput("output= chooses among the outputs of an ONNX file that reads texts, pictures or rows; with "
                           "arrays it goes to explain()")
    if context is not None or context_mode is not None:
        refuse({"tokenizer": tokenizer, "processor": processor, "example": example, "arrays": arrays,
                "batch_axes": batch_axes}, "does not go with context=, which table models have")
        return load_in_context(source, context, context_mode, table, name, output)
    if table is not None:
        from ._save_table import load_with_table

        refuse({"tokenizer": tokenizer, "processor": processor, "example": example, "arrays": arrays,
                "batch_axes": batch_axes, "output": output}, "does not go with table=")
        return load_with_table(source, table, name)
    in_memory = {"tokenizer": tokenizer, "processor": processor, "example": example, "name": name}
    for_arrays = {"arrays": arrays, "batch_axes": batch_axes}
    if isinstance(source, (str, os.PathLike)):
        refuse(in_memory, "goes with a model held in memory; a folder or file has its own beside it")
        return _from_name(os.fspath(source), arrays, batch_axes, output)
    if hasattr(source, "state_dict") and hasattr(source, "forward"):
        from ._from_torch import load_module

        refuse(for_arrays, "goes with an ONNX file")
        return load_module(source, tokenizer=tokenizer, processor=processor, example=example, name=name)
    if isinstance(source, Model):
        refuse({**in_memory, **for_arrays}, "changes nothing about a model that is loaded already")
        return source
    raise InvalidInput(f"cannot load a model from {type(source).__name__}: give a path, a built-in name, or a "
                       "transformers or torch model")


def _from_name(path: str, arrays: bool, batch_axes: Mapping[str, int | None] | None, output: str | None) -> Model:
    """A built-in model, a folder or a file."""
    known = " or ".join(repr(one) for one in BUILT_IN)
    if output == "":
        raise InvalidInput("the output's name is empty: name one, or leave it out")
    if not path:
        raise InvalidInput(f"the model's name is empty: give a path or a built-in name ({known})")
    if path in BUILT_IN:
        refuse({"arrays": arrays, "batch_axes": batch_axes}, "goes with an ONNX file")
        return Model(BUILT_IN[path](), path)
    if arrays:
        axes = dict(batch_axes or {})
        return Model(_native.Model.load(path, arrays=True, batch_axes=axes), path, arrays=True, batch_axes=axes)
    if batch_axes:
        raise InvalidInput("batch_axes goes with arrays=True")
    if not os.path.exists(path) and os.sep not in path:
        raise FileError(f"there is no file or folder '{path}', nor a built-in model of that name ({known}); models "
                        "are not downloaded: give a folder that is on this machine")
    return _from_path(path, output)


def load_in_context(source, context, context_mode, table=None, name=None, output=None) -> Model:
    """A table model whose rows attend to those of `context`."""
    from ._save_table import context_files, load_with_table

    kept, words = context_files(context, context_mode)
    if table is not None:
        found = load_with_table(source, table, name, words)
    elif isinstance(source, (str, os.PathLike)) and os.fspath(source) not in BUILT_IN:
        found = Model(_native.Model.load(os.fspath(source), output or "", **words), os.fspath(source), output=output)
    else:
        raise InvalidInput("context= goes with a table model whose rows attend to each other: a folder, an ONNX file, or "
                           "weights with table=")
    found._context = kept
    return found


def _from_path(path: str, output: str | None) -> Model:
    try:
        return Model(_native.Model.load(path, output or ""), path, output=output)
    except UnsupportedModel as error:
        if path.endswith(".onnx"):
            raise
        raise UnsupportedModel(f"{error}; a torch model in memory can be handed over itself: whyformer.load(model, "
                               "tokenizer=…)") from None


def inspect(path, shapes: Mapping[str, Sequence[int]] | None = None) -> ModelSummary:
    """What is found in a folder or an ONNX file of any kind: attention, streams, read-out.

    shapes    sizes of an ONNX file's inputs by their names, where those that are chosen do not fit
    """
    given = {name: [int(size) for size in shape] for name, shape in (shapes or {}).items()}
    try:
        return ModelSummary(_native.inspect(os.fspath(path), given))
    except LengthsDoNotFit as error:
        raise InvalidInput(f"{error}; give lengths that fit with shapes={{{error.input!r}: [...]}}") from None
