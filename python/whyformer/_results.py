"""What an explanation is: scores over the parts of an input, and how they are shown and stored."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from typing import Any, Iterator, cast

import numpy as np

from . import _native
from ._choices import choice
from ._display import notebook_page, notebook_pages
from ._native import InvalidInput


class Attribution:
    """The scores of one method. `scores` shares memory with the engine and cannot be written to."""

    def __init__(self, native: _native.Attribution, explanation: Explanation):
        self._native = native
        self.explanation = explanation

    @property
    def method(self) -> str:
        return self._native.method

    @property
    def scores(self) -> np.ndarray:
        """One number per unit."""
        return self._native.scores

    @property
    def units(self) -> list:
        """What the scores belong to: tokens, patches or columns."""
        return self.explanation.units

    @property
    def words(self) -> list:
        """Scores of whole words; empty for pictures."""
        return self._native.words

    @property
    def options(self) -> dict[str, Any]:
        return dict(self._native.options)

    @property
    def is_signed(self) -> bool:
        """Whether negative scores mean evidence against the target."""
        return self._native.is_signed

    @property
    def estimate(self):
        """Base, value and standard errors, of methods that hide parts of the input; else None."""
        return self._native.estimate

    @property
    def errors(self) -> np.ndarray | None:
        """Standard errors, one per unit, where the scores were sampled."""
        estimate = self._native.estimate
        return estimate.errors if estimate is not None and len(estimate.errors) else None

    @property
    def completeness_gap(self) -> float | None:
        """Sum of the scores minus what it should be, where that is defined."""
        return self._native.completeness_gap

    @property
    def cost(self):
        """Forward runs, backward walks and seconds."""
        return self._native.cost

    @property
    def trust(self) -> dict | None:
        """How far the scores can be trusted, where that was asked for: verdict, percentiles, agreement, stability."""
        return self.to_dict()["trust"] if self._native.has_trust else None

    @property
    def notes(self) -> list[str]:
        return self._native.notes

    @property
    def heat_map(self) -> np.ndarray:
        """Scores of a picture's patches, [rows, columns]; a view."""
        picture = self.explanation.picture
        if picture is None:
            raise InvalidInput("only explanations of pictures have a heat map")
        first, count = picture.first_patch, picture.rows * picture.columns
        return self.scores[first:first + count].reshape(picture.rows, picture.columns)

    @property
    def pixels(self) -> np.ndarray | None:
        """Scores of a picture's pixels, [height, width], where the method gives them."""
        picture = self.explanation.picture
        return None if picture is None else cast("np.ndarray | None", self._native.pixels(picture.height, picture.width))

    def to_dict(self) -> dict:
        """As in the command line's JSON."""
        everything = self.explanation.to_dict()
        return next(one for one in everything["attributions"] if one["method"] == self.method)

    def to_pandas(self, by: str = "units"):
        """A table with a row per unit, or per word with by="words"."""
        import pandas

        if by == "words":
            return pandas.DataFrame([dict(text=w.text, start=w.start, end=w.end, score=w.score) for w in self.words],
                                    columns=["text", "start", "end", "score"])
        if by != "units":
            raise InvalidInput(f"by={by!r}: give 'units' or 'words'")
        rows = [dict(text=u.text, start=u.start, end=u.end, special=u.special) for u in self.units]
        table = pandas.DataFrame(rows, columns=["text", "start", "end", "special"])
        if any(u.column for u in self.units):
            table["column"] = [u.column for u in self.units]
        table["score"] = self.scores
        if self.errors is not None:
            table["error"] = self.errors
        return table

    def plot(self, ax=None):
        """Draws with matplotlib: bars, or a heat map over the picture. Gives the axes."""
        from ._plots import plot_attribution

        return plot_attribution(self, ax)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<{self.method}: {len(self)} scores for {self.explanation.target.label!r}>"


class Explanation(Sequence):
    """Scores of one or several methods for one input and one target; `result["gae"]` is one method's."""

    def __init__(self, native: _native.Explanation):
        self._native = native

    model = property(lambda self: self._native.model)
    text = property(lambda self: self._native.text, doc="the text, or the picture's name")
    pair = property(lambda self: self._native.pair, doc="the second text")
    picture = property(lambda self: self._native.picture, doc="what the model saw of a picture; else None")
    units = property(lambda self: self._native.units, doc="tokens, patches or columns")
    streams = property(lambda self: self._native.streams, doc="which units belong together; empty where all do")
    read_out = property(lambda self: self._native.read_out, doc="how the output reads the tokens, where that is told")
    output = property(lambda self: self._native.output, doc="everything the model answered")
    target = property(lambda self: self._native.target, doc="the output that is explained")
    notes = property(lambda self: self._native.notes, doc="what the reader must know, in sentences")
    refused = property(lambda self: self._native.refused, doc="methods that have no meaning here, and why")

    @property
    def methods(self) -> list[str]:
        return [one.method for one in self]

    @property
    def trust(self) -> dict[str, dict] | None:
        """How far each method can be trusted, by its name, where that was asked for."""
        found = {one.method: one.trust for one in self}
        return found if any(found.values()) else None

    def by_stream(self, method: str | int = 0) -> list[np.ndarray]:
        """A method's scores, stream by stream; views."""
        scores = self[method].scores
        return [scores[one.first:one.first + one.count] for one in self.streams] or [scores]

    @property
    def attention(self) -> list[np.ndarray]:
        """Attention maps [heads, queries, keys] of every layer, shared with the engine."""
        return [layer.values for layer in self._native.attention]

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self):
        raise TypeError("an explanation lies in the engine's memory: store or send its to_dict() or to_json()")

    def __contains__(self, method: object) -> bool:
        """Whether a method's scores are here, by its name."""
        return method.replace("_", "-") in self.methods if isinstance(method, str) else super().__contains__(method)

    def __getitem__(self, method: str | int) -> Attribution:  # type: ignore[override]
        if isinstance(method, str):
            name = method.replace("_", "-")
            for index, known in enumerate(self.methods):
                if known == name:
                    return self[index]
            why = "".join(f"; it was left out: {one.reason}" for one in self.refused if one.method == name)
            raise KeyError(f"no scores of {method!r} here, only of {', '.join(self.methods)}{why}")
        if method < 0:
            method += len(self)
        if not 0 <= method < len(self):
            raise IndexError(method)
        return Attribution(self._native.attribution(method), self)

    def __iter__(self) -> Iterator[Attribution]:
        return (self[index] for index in range(len(self)))

    def to_json(self, indent: int | None = 2) -> str:
        """Exactly what the command line writes."""
        return _native.to_json(self._native, -1 if indent is None else indent)

    def to_dict(self) -> dict:
        return json.loads(self.to_json(None))

    def to_pandas(self, by: str = "units"):
        """A table with a row per unit (or word) and a column per method."""
        parts = [one.to_pandas(by) for one in self]
        table = parts[0].drop(columns=["score", "error"], errors="ignore")
        for one, part in zip(self, parts):
            table[one.method] = part["score"]
        return table

    def to_shap(self, method: str | int = 0) -> dict:
        """What `shap.Explanation(**result.to_shap())` takes, of a row of a table: for all of shap's plots."""
        return Explanations([self]).to_shap(method, single=True)

    def to_html(self, special: str = "show") -> str:
        """A page that works offline."""
        return _native.to_html([self._native], _special(special))

    def save(self, path, *, special: str = "show", grain: str = "smooth", segment: str = "none") -> None:
        """Writes .html, .json, .svg or .png, as the name ends; the whole file or nothing."""
        save_explanations([self], path, special, grain, segment)

    def save_attention(self, path, layer: int | None = None, head: int | None = None) -> None:
        """Writes the attention maps as .svg or .png: a map per layer, the heads of one layer, or one of them."""
        format = picture_format(path)
        _native.save(path, _native.attention_picture(self._native, format, -1 if layer is None else layer,
                                                     -1 if head is None else head, _special("show")))

    def save_waterfall(self, path, method: str | int = "") -> None:
        """Writes a waterfall plot of a method whose scores add up (the first of them) as .svg or .png."""
        name = self[method].method if method != "" else ""
        _native.save(path, _native.waterfall_picture(self._native, picture_format(path), name))

    def plot_attention(self, layer: int, head: int | None = None, ax=None):
        """Draws a head of a layer (or the mean over its heads) with matplotlib. Gives the axes.

        Rows are queries, columns keys; of a picture, what its class token attends to, over the picture.
        """
        from ._plots import plot_attention

        return plot_attention(self, layer, head, ax)

    def plot(self, axes=None):
        """Draws every method with matplotlib, side by side. Gives the axes."""
        from ._plots import plot_explanation

        return plot_explanation(self, axes)

    def show(self) -> None:
        """Prints what the command line shows."""
        print(self._terminal(_colour()), end="")

    def _terminal(self, colour: bool) -> str:
        width = min(shutil.get_terminal_size().columns, 120)
        return _native.to_terminal([self._native], colour, width, _special("show"))

    def __repr__(self) -> str:
        return f"<explanation of {self.target.label!r} by {', '.join(self.methods)}>"

    def __str__(self) -> str:
        return self._terminal(False)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/plain": str(self), "text/html": notebook_page(self.to_html(), self._still(), str(self))}

    def _still(self) -> bytes:
        """A picture for where pages cannot be shown."""
        return picture_of([self], _native.PictureFormat.png)


class Explanations(Sequence):
    """Explanations of several inputs, or of several targets of one picture."""

    def __init__(self, explanations: list[Explanation], index=None):
        # The labels of a frame's rows, where each has an explanation.
        self._all, self._index = list(explanations), index if index is not None and len(index) == len(explanations) else None

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, index):
        found = self._all[index]
        if not isinstance(index, slice):
            return found
        return Explanations(found, None if self._index is None else self._index[index])

    def to_dict(self) -> list[dict]:
        return [one.to_dict() for one in self]

    def to_json(self) -> str:
        """JSON lines, as the command line writes them."""
        return "".join(one.to_json(None) + "\n" for one in self)

    def to_pandas(self, by: str = "units"):
        """The tables of all explanations below each other, with a column `input` that counts them.

        by="columns", of rows of a table: a row for each input, and for each method a score of each column, with the
        index of the frame that was explained.
        """
        import pandas

        if by == "columns":
            parts = {name: self.to_shap(name) for name in self[0].methods} if self._all else {}
            return pandas.concat({name: pandas.DataFrame(one["values"], self._index, columns=one["feature_names"])
                                  for name, one in parts.items()}, axis=1)
        tables = [one.to_pandas(by) for one in self]
        for index, table in enumerate(tables):
            table.insert(0, "input", index)
        return pandas.concat(tables, ignore_index=True)

    def to_shap(self, method: str | int = 0, *, single: bool = False) -> dict:
        """What `shap.Explanation(**results.to_shap())` takes, of rows of a table explained for one target."""
        columns = [[index for index, unit in enumerate(one.units) if unit.column] for one in self]  # without [CLS]
        if not columns or not all(columns):
            raise InvalidInput("only explanations of rows of a table are made for shap's plots")
        if len({one.target.label for one in self}) > 1:
            raise InvalidInput("the rows are explained for several targets: explain them again with target=")
        found = [one[method] for one in self]
        bases = np.array([np.nan if one.estimate is None else one.estimate.base for one in found])
        cells = np.array([[_cell(one.units[index]) for index in own] for one, own in zip(self, columns)], dtype=object)
        scores = np.array([one.scores[own] for one, own in zip(found, columns)])
        together = {"values": scores, "base_values": bases, "data": cells}
        if single:
            together = {name: values[0] for name, values in together.items()}
        return {**together, "feature_names": [unit.column for unit in self[0].units if unit.column]}

    values = property(lambda self: self.to_shap()["values"], doc="scores [rows, columns] of the first method")
    base_values = property(lambda self: self.to_shap()["base_values"], doc="what they add up from, one per row")
    data = property(lambda self: self.to_shap()["data"], doc="cells [rows, columns] as they were given")
    feature_names = property(lambda self: self.to_shap()["feature_names"], doc="names of the columns")

    def summary(self, method: str = "", rows: int = 10, order: str = "mean"):
        """What matters over all of them: bars and a beeswarm."""
        from ._importance import summarise

        return summarise(self, method, rows=rows, order=order)

    def save(self, path, *, special: str = "show", grain: str = "smooth", segment: str = "none") -> None:
        """Writes .json (a list), .jsonl (a line each); for the targets of one picture also .html, .svg and .png."""
        save_explanations(self._all, path, special, grain, segment)

    def _of_one_picture(self) -> bool:
        first = self._all[0]
        return first.picture is not None and all(
            one.picture is not None and one.text == first.text for one in self._all)

    def __repr__(self) -> str:
        return f"<{len(self)} explanations>"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        if not self._all:
            return {"text/plain": repr(self)}
        if self._of_one_picture():
            natives = [one._native for one in self]
            page = notebook_page(_native.to_html(natives, _special("show")),
                                 picture_of(self._all, _native.PictureFormat.png), repr(self))
            return {"text/plain": repr(self), "text/html": page}
        shown = self._all[:24]
        more = len(self) - len(shown)
        side_by_side = notebook_pages([one.to_html() for one in shown], [one._still() for one in shown],
                                      [str(one) for one in shown])
        rest = f"<p>… and {more} more</p>" if more else ""
        return {"text/plain": "\n".join(str(one) for one in shown), "text/html": side_by_side + rest}


def _cell(unit):
    """A number where the column holds numbers, else the cell as it was written."""
    if unit.missing:
        return np.nan
    return unit.cell if unit.category or unit.value is None else unit.value


def _special(name: str):
    return choice(_native.SpecialTokens, "special", name)


def _colour() -> bool:
    import sys

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def ending_of(path) -> str:
    return os.path.splitext(os.fspath(path))[1].lower()


def picture_format(path):
    ending = ending_of(path)
    if ending not in (".svg", ".png"):
        raise InvalidInput(f"cannot write '{os.fspath(path)}': the name must end in .svg or .png")
    return getattr(_native.PictureFormat, ending[1:])


def picture_of(explanations: list[Explanation], format, special: str = "show", grain: str = "smooth",
               segment: str = "none") -> bytes:
    natives = [one._native for one in explanations]
    if explanations[0].picture is None:
        return _native.bars_picture(natives[0], format, _special(special))
    return _native.overlay_picture(natives, format, choice(_native.Grain, "grain", grain),
                                   choice(_native.Segment, "segment", segment))


def save_explanations(explanations: list[Explanation], path, special: str, grain: str, segment: str) -> None:
    ending = ending_of(path)
    several = Explanations(explanations)
    if ending == ".json":
        each = ",\n".join(one.to_json() for one in explanations)
        content = (each if len(explanations) == 1 else f"[{each}]").encode() + b"\n"
    elif ending == ".jsonl":
        content = several.to_json().encode()
    elif ending not in (".html", ".svg", ".png"):
        raise InvalidInput(f"cannot write '{os.fspath(path)}': the name must end in .html, .json, .jsonl, .svg or .png")
    elif len(explanations) != 1 and not (explanations and several._of_one_picture()):
        raise InvalidInput("pages and pictures show one text or row, or the targets of one picture: save each, or use "
                           "summary()")
    elif ending == ".html":
        content = _native.to_html([one._native for one in explanations], _special(special)).encode()
    else:
        content = picture_of(explanations, picture_format(path), special, grain, segment)
    _native.save(path, content)
