"""ONNX models of any kind, whose inputs are arrays by name."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from . import _native
from ._choices import choice
from ._model import ModelSummary, requested_methods
from ._native import InvalidInput
from ._progress import Bar
from ._results import Explanation

# As safetensors calls NumPy's types, and back.
_TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16",
          "int8": "I8", "uint8": "U8", "uint16": "U16", "uint32": "U32", "bool": "BOOL"}
_NUMPY = {name: kind for kind, name in _TYPES.items()}


class ArrayExplanation(Explanation):
    """Units are the tokens of all streams, one stream after the other; `streams` tells which are whose."""

    def __init__(self, native: _native.ArrayExplanation):
        super().__init__(native.explanation)
        self._whole = native

    @property
    def streams(self) -> list:
        return self._whole.streams

    def by_stream(self, method: str | int = 0) -> list[np.ndarray]:
        """A method's scores, stream by stream; views."""
        scores = self[method].scores
        return [scores[one.first:one.first + one.count] for one in self.streams]

    def to_json(self, indent: int | None = 2) -> str:
        return self._whole.json(-1 if indent is None else indent)


class ArrayModel:
    """An ONNX file that takes arrays: `model({"input_ids": …})`. Masks, positions and caches may be left out."""

    def __init__(self, native: _native.ArrayModel):
        self._native = native

    @property
    def name(self) -> str:
        return self._native.name.name

    @property
    def outputs(self) -> list[str]:
        return self._native.outputs

    def __repr__(self) -> str:
        return f"<model {self.name!r}, reads arrays, gives {_native.printable(', '.join(self.outputs))}>"

    def __call__(self, inputs: Mapping) -> dict[str, np.ndarray]:
        """Every output by name."""
        return self._native.run(_given(inputs))

    def inspect(self, inputs: Mapping) -> ModelSummary:
        """What is found in the model for arrays of these lengths."""
        return ModelSummary(self._native.inspect(_given(inputs)))

    def explain(self, inputs: Mapping, methods=None, *, output: str = "", element=(), options=None,
                hiding_id: int | None = None, precision: str = "single", seed: int = 0, memory_megabytes: int = 1024,
                progress=None) -> ArrayExplanation:
        """Why this element of an output?

        methods          names from `whyformer.methods()`; default: a choice that fits the model
        output, element  which one, by name and indices; default: the largest of the logits
        hiding_id        the token that stands in for hidden ones
        """
        request = _native.ArrayRequest()
        request.target = _native.ArrayTarget(output, [int(index) for index in element])
        if methods is None:
            methods = self._native.usual_methods(_given(inputs), request.target)
        for name, values in requested_methods(methods, options).items():
            request.add_method(name, values)
        request.hiding_id = hiding_id
        request.precision = choice(_native.Precision, "precision", precision)
        request.seed, request.memory_bytes = seed, memory_megabytes << 20
        with Bar("explaining", progress) as bar:
            return ArrayExplanation(self._native.explain(_given(inputs), request, bar.callback))

    def trace(self, inputs: Mapping, output: str = "", element=()) -> dict[str, np.ndarray]:
        """`attention.L`, `attention_gradient.L`, `output.NAME` and `input_gradient.NAME`, by name."""
        target = _native.ArrayTarget(output, [int(index) for index in element])
        return _read_safetensors(self._native.trace(_given(inputs), target))

    def attention(self, inputs: Mapping) -> list[np.ndarray]:
        return _numbered(self.trace(inputs), "attention.")

    def attention_gradients(self, inputs: Mapping, output: str = "", element=()) -> list[np.ndarray]:
        return _numbered(self.trace(inputs, output, element), "attention_gradient.")


def _given(inputs: Mapping) -> list[tuple]:
    if not isinstance(inputs, Mapping):
        raise InvalidInput("this model reads arrays: give a dictionary of them by the names of its inputs")
    given = []
    for name, array in inputs.items():
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        if array.dtype.name not in _TYPES:
            raise InvalidInput(f"the array '{name}' has the type {array.dtype}, which no input takes")
        given.append((str(name), _TYPES[array.dtype.name], list(array.shape), array))
    return given


def _read_safetensors(content: bytes) -> dict[str, np.ndarray]:
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        kind = np.dtype(_NUMPY[entry["dtype"]])
        arrays[name] = np.frombuffer(content, kind, (end - begin) // kind.itemsize, begin).reshape(entry["shape"])
    return arrays


def _numbered(arrays: Mapping, prefix: str) -> list[np.ndarray]:
    count = sum(name.startswith(prefix) for name in arrays)
    return [arrays[f"{prefix}{index}"] for index in range(count)]
