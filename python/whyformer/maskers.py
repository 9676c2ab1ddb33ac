"""How parts of an input are hidden, for explaining any function with `whyformer.shap` and `whyformer.lime`.

A masker says what the players of an input are, and turns coalitions of visible players into inputs. To write your own,
give these four; only `apply` must do something special:

    players(x)            how many
    names(x)              what to call them
    apply(visible, x)     arguments for the function, a tuple; visible is [n, players] of true and false. Each argument
                          holds n · backgrounds inputs, those of one coalition together
    tree(x)               pairs of children, bottom up, as in a linkage matrix; or None
"""

from __future__ import annotations

import os
import re

import numpy as np

from . import _native
from ._inputs import column_names
from ._native import InvalidInput


class Masker:
    """What all maskers share."""

    weights = np.ones(1)  # of the backgrounds; they sum to 1
    is_picture = False

    def players(self, x) -> int:
        raise NotImplementedError

    def names(self, x) -> list[str]:
        return [f"player {index}" for index in range(self.players(x))]

    def apply(self, visible: np.ndarray, x) -> tuple:
        raise NotImplementedError

    def tree(self, x):
        return None

    def varying(self, x) -> list[bool]:
        """Players that can change something."""
        return [True] * self.players(x)

    def is_one(self, x) -> bool:
        """Whether `x` is one input rather than several."""
        return True

    def data(self, x):
        """Values of the players, for plots and tables."""
        return self.names(x)


class Players(Masker):
    """No input at all: the function gets the coalitions themselves, [n, players] of true and false."""

    def __init__(self, names):
        self._names = [str(index) for index in range(names)] if isinstance(names, int) else list(names)

    def players(self, x=None) -> int:
        return len(self._names)

    def names(self, x=None) -> list[str]:
        return self._names

    def apply(self, visible, x=None) -> tuple:
        return (visible,)


class Table(Masker):
    """Columns of a row. Hidden ones are taken from every row of the background in turn, and the answers averaged."""

    def __init__(self, background, *, weights=None, most_rows: int = 100):
        self._columns = column_names(background) if hasattr(background, "columns") else None
        self._frame = background.iloc[:0] if self._columns is not None else None
        table = np.ascontiguousarray(_numbers(background))
        if table.ndim != 2 or not len(table):
            raise InvalidInput("a background is a table with at least one row: [rows, columns]")
        if weights is None and len(table) > most_rows:
            table = _native.background_of(_native.NamedTable([], table), most_rows).numbers
        self.background = table
        self.weights = np.full(len(table), 1 / len(table)) if weights is None else np.asarray(weights, np.float64)
        if self.weights.shape != (len(table),) or (self.weights < 0).any() or not self.weights.sum() > 0:
            raise InvalidInput(f"{len(table)} background rows need as many weights, none below 0")
        self.weights = self.weights / self.weights.sum()

    @classmethod
    def kmeans(cls, data, clusters: int) -> Table:
        """A few rows that stand for a table, as shap.kmeans finds them."""
        centres, weights = _native.kmeans_background(np.ascontiguousarray(_numbers(data)), clusters)
        masker = cls(centres, weights=weights)
        if hasattr(data, "columns"):
            masker._columns, masker._frame = column_names(data), data.iloc[:0]
        return masker

    def is_one(self, x) -> bool:
        return np.ndim(x) == 1

    def _row(self, x) -> np.ndarray:
        if self._columns is not None and hasattr(x, "to_numpy") and (hasattr(x, "columns") or hasattr(x, "index")):
            x = self._in_order(x)
        row = _numbers(x).reshape(-1)
        if len(row) != self.background.shape[1]:
            raise InvalidInput(f"the row has {len(row)} columns, the background {self.background.shape[1]}")
        return row

    def _in_order(self, x):
        """A row with names, in the background's order."""
        given = column_names(x)
        if given == self._columns:
            return x
        if sorted(given) != sorted(self._columns):
            raise InvalidInput(f"the row has the columns {', '.join(given)}, the background {', '.join(self._columns)}")
        return x.to_numpy().reshape(-1)[[given.index(name) for name in self._columns]]

    def players(self, x=None) -> int:
        return self.background.shape[1]

    def names(self, x=None) -> list[str]:
        return self._columns or [f"column {index}" for index in range(self.players())]

    def data(self, x) -> np.ndarray:
        return self._row(x)

    def varying(self, x) -> list[bool]:
        return (self._row(x) != self.background).any(axis=0).tolist()

    def apply(self, visible, x) -> tuple:
        return self._as_given(np.where(visible[:, None, :], self._row(x), self.background).reshape(-1, self.players()))

    def apply_one(self, visible, x, backgrounds) -> tuple:
        """The same with one row of the background for each coalition."""
        return self._as_given(np.where(visible, self._row(x), self.background[backgrounds]))

    def _as_given(self, rows: np.ndarray) -> tuple:
        if self._frame is None:
            return (rows,)
        import pandas

        return (pandas.DataFrame(rows, columns=self._frame.columns).astype(self._frame.dtypes.to_dict()),)


class Text(Masker):
    """Words of a text. A hidden one becomes `mask`, or goes where that is empty.

    pieces: a pattern that finds words, or a function from a text to a list of (start, end).
    """

    def __init__(self, mask: str = "...", pieces=r"\w+|[^\w\s]+"):
        self._mask = mask
        self._find = pieces if callable(pieces) else (lambda text: [m.span() for m in re.finditer(pieces, text)])

    def is_one(self, x) -> bool:
        return isinstance(x, str)

    def _spans(self, x) -> list[tuple[int, int]]:
        spans = list(self._find(x))
        if not spans:
            raise InvalidInput("the text has no words")
        return spans

    def players(self, x) -> int:
        return len(self._spans(x))

    def names(self, x) -> list[str]:
        return [x[start:end] for start, end in self._spans(x)]

    def tree(self, x):
        spans = self._spans(x)
        ends = [start for start, _ in spans[1:]] + [len(x)]
        return _native.text_tree([x[start:end] for (start, _), end in zip(spans, ends)])

    def apply(self, visible, x) -> tuple:
        spans = self._spans(x)
        return ([self._masked(x, spans, row) for row in visible],)

    def _masked(self, text, spans, visible) -> str:
        parts, last, gone = [], 0, False
        for (start, end), seen in zip(spans, visible):
            between = text[last:start]
            # The space in front of a word that goes, goes too.
            parts.append(between if not gone or not between.isspace() else "")
            parts.append(text[start:end] if seen else self._mask)
            gone = not seen and not self._mask
            last = end
        return "".join(parts) + text[last:]


class Picture(Masker):
    """Square patches of a picture [height, width, channels]. Hidden ones get the picture's mean colour ("mean"), its
    blurred copy ("blur"), or a number."""

    is_picture = True

    def __init__(self, patch: int = 16, fill="mean"):
        self._patch, self._fill = patch, fill

    def is_one(self, x) -> bool:
        return np.ndim(x) in (2, 3)

    def _grid(self, x) -> tuple[int, int]:
        height, width = np.shape(x)[:2]
        return -(-height // self._patch), -(-width // self._patch)

    def players(self, x) -> int:
        rows, columns = self._grid(x)
        return rows * columns

    def names(self, x) -> list[str]:
        rows, columns = self._grid(x)
        return [f"row {row}, column {column}" for row in range(rows) for column in range(columns)]

    def tree(self, x):
        return _native.grid_tree(*self._grid(x))

    def _hidden(self, x) -> np.ndarray:
        if isinstance(self._fill, str) and self._fill == "mean":
            return np.broadcast_to(np.mean(x, axis=(0, 1)), np.shape(x)).astype(x.dtype)
        if isinstance(self._fill, str) and self._fill == "blur":
            return _blurred(x, self._patch)
        if isinstance(self._fill, str):
            raise InvalidInput(f"fill={self._fill!r}: give 'mean', 'blur' or a number")
        return np.full_like(x, self._fill)

    def apply(self, visible, x) -> tuple:
        x = np.asarray(x)
        rows, columns = self._grid(x)
        seen = visible.reshape(-1, rows, columns).repeat(self._patch, 1).repeat(self._patch, 2)
        seen = seen[:, :x.shape[0], :x.shape[1]]
        return (np.where(seen if x.ndim == 2 else seen[..., None], x, self._hidden(x)),)


class Composite(Masker):
    """Several inputs at once, a masker for each; the function gets as many arguments, and `x` is a tuple."""

    def __init__(self, *maskers):
        self._parts = [as_masker(one) for one in maskers]
        if any(len(one.weights) > 1 for one in self._parts[1:]):
            raise InvalidInput("only the first part of a Composite can have a background of several rows")
        self.weights = self._parts[0].weights

    def _each(self, x):
        if len(x) != len(self._parts):
            raise InvalidInput(f"{len(x)} inputs for {len(self._parts)} maskers")
        return zip(self._parts, x)

    def players(self, x) -> int:
        return sum(masker.players(one) for masker, one in self._each(x))

    def names(self, x) -> list[str]:
        return [name for masker, one in self._each(x) for name in masker.names(one)]

    def varying(self, x) -> list[bool]:
        return [flag for masker, one in self._each(x) for flag in masker.varying(one)]

    def tree(self, x):
        """The trees of the parts, joined in their order; players without a tree are joined one by one."""
        total = self.players(x)
        merges, root, first = [], None, 0
        for masker, one in self._each(x):
            count = masker.players(one)
            own = masker.tree(one)
            if own is None:
                own = [(0 if index == 1 else count + index - 2, index) for index in range(1, count)]
            offset = total + len(merges) - count
            merges += [tuple(first + node if node < count else node + offset for node in pair) for pair in own]
            top = first if count == 1 else total + len(merges) - 1
            if root is not None:
                merges.append((root, top))
                top = total + len(merges) - 1
            root, first = top, first + count
        return merges

    def apply(self, visible, x) -> tuple:
        arguments, first = [], 0
        backgrounds = len(self.weights)
        for index, (masker, one) in enumerate(self._each(x)):
            count = masker.players(one)
            found = masker.apply(visible[:, first:first + count], one)
            if index and backgrounds > 1:
                found = tuple(_repeated(argument, backgrounds) for argument in found)
            arguments += found
            first += count
        return tuple(arguments)


class ShapMasker(Masker):
    """A masker of the shap package, or any object called as masker(mask, x) that knows its shape(x)."""

    def __init__(self, masker):
        self._masker = masker
        self._rows = None

    def _shape(self, x):
        shape = self._masker.shape
        return shape(x) if callable(shape) else shape

    def players(self, x) -> int:
        return int(self._shape(x)[1])

    def names(self, x) -> list[str]:
        names = getattr(self._masker, "feature_names", None)
        found = names(x)[0] if callable(names) else names
        return [str(one) for one in found] if found is not None else super().names(x)

    def is_one(self, x) -> bool:
        picture = getattr(self._masker, "input_shape", None)  # of shap.maskers.Image
        return isinstance(x, str) or (np.ndim(x) == 1 if picture is None else np.shape(x) == tuple(picture))

    def tree(self, x):
        clustering = getattr(self._masker, "clustering", None)
        linkage = clustering(x) if callable(clustering) else clustering
        return None if linkage is None else [(int(row[0]), int(row[1])) for row in np.asarray(linkage)]

    @property
    def weights(self):
        rows = self._rows or 1
        return np.full(rows, 1 / rows)

    def apply(self, visible, x) -> tuple:
        found = []
        for row in np.asarray(visible, bool):
            one = self._masker(row, x)
            # shap's maskers of tables give the same array again and again, with other numbers in it.
            found.append(tuple(np.array(part) for part in (one if isinstance(one, tuple) else (one,))))
        self._rows = len(found[0][0])
        return tuple(np.concatenate([one[index] for one in found]) for index in range(len(found[0])))


def as_masker(masker) -> Masker:
    """A masker; a table stands for itself as background."""
    if all(hasattr(masker, name) for name in ("players", "apply")):
        return masker
    if hasattr(masker, "shape") and callable(masker):
        return ShapMasker(masker)
    if isinstance(masker, int) or (isinstance(masker, (list, tuple)) and masker and isinstance(masker[0], str)):
        return Players(masker)
    if isinstance(masker, (str, os.PathLike)):
        raise InvalidInput("a masker for texts is whyformer.maskers.Text(mask=...)")
    return Table(masker)


def _numbers(x) -> np.ndarray:
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("the table holds something else than numbers: encode categories first") from None


def _repeated(argument, times: int):
    if isinstance(argument, np.ndarray):
        return argument.repeat(times, axis=0)
    return [one for one in argument for _ in range(times)]


def _blurred(x: np.ndarray, width: int) -> np.ndarray:
    """Means over squares, twice, which is close to a Gaussian."""
    blurred = x.astype(np.float64)
    for _ in range(2):
        for axis in (0, 1):
            padded = np.pad(blurred, [(width // 2, width - 1 - width // 2) if a == axis else (0, 0)
                                      for a in range(x.ndim)], mode="edge")
            total = np.cumsum(padded, axis=axis)
            zero = np.zeros_like(np.take(total, [0], axis=axis))
            total = np.concatenate([zero, total], axis=axis)
            count = x.shape[axis]
            blurred = (np.take(total, range(width, width + count), axis=axis)
                       - np.take(total, range(count), axis=axis)) / width
    return blurred.astype(x.dtype)
