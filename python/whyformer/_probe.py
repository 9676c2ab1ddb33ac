"""Values inside a model: read, changed, and what came of it."""

from __future__ import annotations

import numpy as np

from . import _native
from ._choices import choice
from ._native import InvalidInput
from .edits import Edit, as_edits


class Recording:
    """What a probe read: `recording["blocks.3.output"]` is a NumPy array that shares its memory."""

    def __init__(self, native: _native.Recording):
        self._native = native

    @property
    def names(self) -> list[str]:
        """Of values; "gradient.NAME" and "relevance.NAME" for theirs."""
        return [array.name for array in self._native.arrays]

    def __getitem__(self, name: str) -> np.ndarray:
        return self._native.at(name).values

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __iter__(self):
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def axes(self, name: str) -> list[str]:
        """What each axis of the array stands for: "batch", "head", "query", "key", "token", "feature"."""
        return self._native.at(name).axes

    def copy(self, name: str, *, run: str = "other", **at) -> Edit:
        """An edit that puts there what this recording has; the value must have been read whole."""
        places = {axis: [place] if isinstance(place, (int, np.integer)) else [int(one) for one in place]
                  for axis, place in at.items()}
        return self._native.copy(name, places, run)

    @property
    def output(self):
        """What the model answered, of the first copy."""
        return self._native.output

    @property
    def outputs(self) -> np.ndarray:
        """[copies, outputs]"""
        return np.array(self._native.outputs)

    @property
    def target(self):
        return self._native.target

    @property
    def tokens(self) -> list[str]:
        """Units of the input: tokens, patches, columns."""
        return [unit.text for unit in self._native.units]

    @property
    def edits(self) -> list[str]:
        return self._native.edits

    @property
    def notes(self) -> list[str]:
        return self._native.notes

    def to_json(self, indent: int | None = None) -> str:
        return self._native.json(-1 if indent is None else indent)

    def save(self, path, *, half: bool = False) -> None:
        """As FILE.safetensors, FILE.npy (of one array) or a new folder NAME.zarr; `half`: as 16-bit floats."""
        self._native.save(path, half)

    def __repr__(self) -> str:
        target = self._native.target
        return f"<recording of {len(self)} arrays, {_native.printable(target.label)} {target.value:.4g}>"


def _texts(given, name: str) -> list[str]:
    texts = [given] if isinstance(given, str) else list(given or ())
    if not all(isinstance(one, str) for one in texts):
        raise InvalidInput(f"{name}={given!r}: give names of values, such as 'blocks.*.output'")
    return texts


def probe_request(read, edits, gradients, gradient_of, relevance, policy, copies, target, similar_to, precision,
                  most_megabytes):
    request = _native.ProbeRequest()
    request.reads = [_native.Read.parse(one) for one in _texts(read, "read")]
    request.edits = as_edits(edits)
    request.gradients = _texts(gradients, "gradients")
    request.gradient_of = None if gradient_of is None else _native.Read.parse(gradient_of)
    request.relevance = _texts(relevance, "relevance")
    request.policy = policy
    request.copies = copies
    request.target = target
    request.similar_to = similar_to
    request.precision = choice(_native.Precision, "precision", precision)
    request.most_bytes = most_megabytes << 20
    return request
