"""What matters over many inputs: heads, columns, and a method's scores."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import numpy as np

from . import _inputs, _native
from ._choices import choice
from ._native import InvalidInput
from ._progress import Bar
from ._report import Report
from ._request import explain_request


class HeadImportance(Report):
    """A number per layer and head for each measure, the roles of heads, and the pruning curve."""

    def values(self, measure: str) -> np.ndarray:
        """[layers, heads]"""
        for one in self._dict["measures"]:
            if one["name"] == measure:
                return np.array(one["scores"])
        raise KeyError(measure)

    def role(self, layer: int, head: int) -> str | None:
        """What the head does, such as "previous-token"; None where no role holds."""
        if self._dict["roles"] is None:
            raise InvalidInput("roles were not asked for: heads(…, roles=True)")
        return self._dict["roles"]["heads"][layer][head]["role"]


def head_importance(model, texts, labels, measures, prune, roles, conllu, normalise, all_tokens, attention_constant,
                    precision, progress) -> HeadImportance:
    if measures is None:
        measures = [] if (roles or conllu is not None) and not prune else ("michel", "confidence")
    if conllu is None:
        if texts is None:
            raise InvalidInput("heads takes texts (or pictures), or conllu=FILE")
        corpus = _corpus(model, texts, labels)
    elif texts is not None or labels is not None:
        raise InvalidInput("conllu=FILE gives the texts by itself: leave out texts and labels")
    else:
        corpus = _native.treebank(os.fspath(conllu))
    request = _native.HeadsRequest()
    request.measures = [measures] if isinstance(measures, str) else list(measures)
    request.normalise, request.all_tokens = normalise, all_tokens
    request.attention_constant = attention_constant
    request.precision = choice(_native.Precision, "precision", precision)
    if prune:
        request.prune = _options(_native.PruneRequest(), "prune", prune, ("step", "keep_one", "seed"))
    if roles or conllu is not None:
        request.roles = _options(_native.HeadRolesRequest(), "roles", roles,
                                 ("share", "permutations", "level", "seed", "min_tokens"))
    with Bar("runs", progress) as bar:
        return HeadImportance(_native.head_importance(model._native, corpus, request, bar.callback))


def _corpus(model, texts, labels) -> list:
    pictures = model._native.reads_pictures and _inputs.is_picture(texts)
    inputs, _ = (_inputs.pictures if pictures else _inputs.texts)(texts)
    kind = "picture" if pictures else "text"
    if labels is not None and len(labels) != len(inputs):
        raise InvalidInput(f"{len(inputs)} {kind}s, but {len(labels)} labels")
    corpus = []
    for index, one in enumerate(inputs):
        label = None if labels is None else labels[index]
        named = None if label is None else [str(part) for part in
                                            (label if isinstance(label, (list, tuple)) else [label])]
        corpus.append(_native.LabelledInput(one, named, f"{kind} {index}"))
    return corpus


def _options(request, what: str, given, names):
    for name, value in (given if isinstance(given, Mapping) else {}).items():
        if name not in names:
            raise InvalidInput(f"{what} has no option {name!r}, only {', '.join(names)}")
        setattr(request, name, value)
    return request


class Importance:
    """How much each column matters; attributes are those of the command line's JSON."""

    def __init__(self, text: str):
        self._json, self._dict = text, json.loads(text)

    def __getattr__(self, name: str):
        if not name.startswith("_") and name in self._dict:
            return self._dict[name]
        raise AttributeError(name)

    def to_dict(self) -> dict:
        return self._dict

    def to_json(self) -> str:
        return self._json

    def to_pandas(self):
        """A row for each column of the table, the most important first."""
        import pandas

        return pandas.DataFrame(self._dict["columns"]).sort_values("value", ascending=False, ignore_index=True)

    def __repr__(self) -> str:
        columns = sorted(self._dict["columns"], key=lambda one: -one["value"])
        names = [_native.printable(one["name"]) for one in columns]
        width = max(map(len, names), default=0)
        return "\n".join(f"{name:>{width}} {one['value']:+.4f}"
                         + ("" if one["error"] is None else f" ± {one['error']:.4f}") for name, one in zip(names, columns))


def _importance_request(score: str = "auto", repeats: int = 5, precision: float = 0.025, draws: int = 0,
                        background_rows: int = 100, seed: int = 0):
    request = _native.ImportanceRequest()
    request.score = choice(_native.ImportanceScore, "score", score.replace("-", "_"))
    request.repeats, request.precision, request.draws = repeats, precision, draws
    request.background_rows, request.seed = background_rows, seed
    return request


def column_importance(model, table, answers, *, method: str = "permutation", groups=(), progress=None,
                      **options) -> Importance:
    request = _importance_request(**options)
    request.method = choice(_native.ImportanceMethod, "method", method)
    request.groups = [list(group) for group in groups]
    with Bar("rows", progress) as bar:
        return Importance(_native.importance(model._native, _inputs.named_table(table, model._native),
                                             [float(one) for one in answers], request, bar.callback))


class ComparedImportances(Report):
    """Importances of the same columns by several methods, side by side, with ranks and intervals."""

    def to_pandas(self):
        """A row for each column and method."""
        import pandas

        return pandas.DataFrame([{"method": side["method"], **column}
                                 for side in self.importances for column in side["columns"]])

    def save(self, path) -> None:
        """Writes .json or .html."""
        if not str(path).endswith((".json", ".html")):
            raise InvalidInput(f"cannot write '{path}': the name must end in .json or .html")
        super().save(path)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/plain": str(self)}


def compared_importances(model, table, answers, methods=None, *, options=None, progress=None,
                         **settings) -> ComparedImportances:
    request = _importance_request(**settings)
    explain = explain_request(methods, options, [None], seed=request.seed) if methods else _native.ExplainRequest()
    with Bar("rows", progress) as bar:
        return ComparedImportances(_native.compare_importances(
            model._native, _inputs.named_table(table, model._native), [float(one) for one in answers], explain, request,
            bar.callback))


class Summary(Report):
    """A method's scores over many inputs. It shows a point per score; `plot="bar"` saves mean sizes."""

    def save(self, path, plot: str = "beeswarm") -> None:
        self._plot = plot
        super().save(path)

    def _picture(self, format) -> bytes:
        return self._native.picture(choice(_native.SummaryPlot, "plot", getattr(self, "_plot", "beeswarm")), format)


def summarise(explanations, method: str = "", *, rows: int = 10, order: str = "mean") -> Summary:
    """What matters over many explained texts or rows."""
    if order not in ("mean", "total"):
        raise InvalidInput(f"order={order!r}: choose from mean, total")
    natives = [one._native for one in explanations]
    return Summary(_native.summarise(natives, method, rows, order == "total"))
