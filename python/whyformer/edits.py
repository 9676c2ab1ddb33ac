"""Changes of values inside a model, as plain objects: `model.explain(text, edits=[wf.edits.zero(…)])`.

    wf.edits.zero("blocks.3.attention.context", head=5)
    wf.edits.scale("blocks.2.mlp.output", 0.5, token=[3, 4])

Keyword arguments are places along the axes of the value; an axis that is not named is taken whole. Edits can be
compared and pickled, and `to_json` and `from_json` keep them to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from . import _native
from ._native import Edit, InvalidInput

__all__ = ["Edit", "add", "freeze", "from_json", "mean", "noise", "permute", "scale", "set_to", "to_json", "zero"]


def _place(axis: str, places) -> str:
    indices = [places] if isinstance(places, (int, np.integer)) else list(places)
    if not indices or any(isinstance(one, bool) or not isinstance(one, (int, np.integer)) for one in indices):
        raise InvalidInput(f"{axis}={places!r}: give the number of a place, or a list of them")
    return f"{axis}={','.join(str(int(one)) for one in indices)}"


def _edit(words: Iterable[str], at: dict) -> Edit:
    return Edit.parse(" ".join([*words, *(_place(axis, places) for axis, places in at.items())]))


def _with_numbers(op: str, value: str, numbers, at: dict) -> Edit:
    if np.ndim(numbers) == 0:
        return _edit([op, value, repr(float(numbers))], at)
    return _edit([op, value, "0"], at).with_array(np.ascontiguousarray(numbers, dtype=np.float64))


def set_to(value: str, numbers, **at) -> Edit:
    """The value is a number there, a vector along the last axis, or an array."""
    return _with_numbers("set", value, numbers, at)


def add(value: str, numbers, **at) -> Edit:
    """A number, a vector along the last axis, or an array is added."""
    return _with_numbers("add", value, numbers, at)


def scale(value: str, factor: float, **at) -> Edit:
    return _edit(["scale", value, repr(float(factor))], at)


def zero(value: str, **at) -> Edit:
    return _edit(["zero", value], at)


def mean(value: str, **at) -> Edit:
    """The value is its mean over the tokens of the input."""
    return _edit(["mean", value], at)


def freeze(value: str, **at) -> Edit:
    """The value stays as it is in the unedited model, whatever other edits do in front of it."""
    return _edit(["freeze", value], at)


def permute(value: str, axis: str, seed: int = 0, **at) -> Edit:
    """Places along an axis change theirs, drawn by the seed."""
    return _edit(["permute", value, f"axis={axis}", f"seed={int(seed)}"], at)


def noise(value: str, sd: float, seed: int = 0, **at) -> Edit:
    """Normal noise is added."""
    return _edit(["noise", value, f"sd={float(sd)!r}", f"seed={int(seed)}"], at)


def to_json(edits: Iterable[Edit], indent: int | None = None) -> str:
    return _native.edits_to_json(list(edits), -1 if indent is None else indent)


def from_json(json: str) -> list[Edit]:
    return _native.edits_from_json(json)


def as_edits(edits) -> list[Edit]:
    """What people give: edits, texts such as "zero blocks.3.attention.context head=5", or one of them."""
    given = [edits] if isinstance(edits, (str, Edit)) else list(edits or ())
    for one in given:
        if not isinstance(one, (str, Edit)):
            raise InvalidInput(f"edits={edits!r}: give edits, such as wf.edits.zero('blocks.3.attention.context', head=5)")
    return [Edit.parse(one) if isinstance(one, str) else one for one in given]
