"""Shapley values and LIME of any Python function."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable

import numpy as np

from . import _native
from ._display import bars_table, error_text
from ._native import InvalidInput
from ._progress import Bar
from .maskers import Masker, as_masker


class FunctionExplanation:
    """What each part of an input is worth to a function; names as in the shap package.

    values [players], or [players, outputs] where the function gives several; base_values and full_values are what it
    gives with everything hidden and visible; errors are standard errors, or None where the values are exact.
    """

    def __init__(self, method: str, found: dict, names: list[str], data, scalar: bool, output_names):
        def shaped(array):
            return array[..., 0] if array is not None and scalar else array

        self.method = method
        self.values: np.ndarray = shaped(found["values"])
        self.base_values = shaped(found["base"])
        self.full_values = shaped(found["full"])
        self.errors = shaped(found.get("errors"))
        self.r_squared = shaped(found.get("r_squared"))
        self.feature_names, self.data, self.output_names = names, data, output_names
        self.evaluations: int = found["evaluations"]
        self.finished: bool = found.get("finished", True)

    def to_dict(self) -> dict:
        fields = ("method", "feature_names", "output_names", "evaluations", "finished")
        arrays = ("values", "base_values", "full_values", "errors", "data")
        result = {name: getattr(self, name) for name in fields}
        for name in arrays:
            value = getattr(self, name)
            result[name] = None if value is None else np.asarray(value).tolist()
        return result

    def to_pandas(self):
        """A row for each player."""
        import pandas

        table = pandas.DataFrame({"name": self.feature_names})
        values = np.asarray(self.values)
        if values.ndim == 1:
            table["value"] = values
        for index in range(values.shape[1] if values.ndim == 2 else 0):
            table[self.output_names[index] if self.output_names else f"output {index}"] = values[:, index]
        return table

    def plot(self, ax=None, output: int = 0):
        """Bars with matplotlib. Gives the axes."""
        from ._plots import _pyplot, draw_bars

        if ax is None:
            _, ax = _pyplot().subplots(layout="constrained")
        values = np.asarray(self.values)
        if values.ndim == 3 or (values.ndim == 2 and self.method == "shapley-taylor"):
            raise InvalidInput("interaction values have no bars")
        values = values if values.ndim == 1 else values[:, output]
        errors = self.errors if self.errors is None or np.ndim(self.errors) == 1 else self.errors[:, output]
        draw_bars(ax, self.feature_names, values, errors, f"{self.method} value")
        return ax

    def __repr__(self) -> str:
        return f"<{self.method}: {len(self.feature_names)} players, {self.evaluations} evaluations>"

    def _is_of_one_output(self) -> bool:
        return np.ndim(self.values) == 1

    def __str__(self) -> str:
        """The players that count most, first."""
        if not self._is_of_one_output():
            return repr(self)
        names = [_native.printable(str(name)) for name in self.feature_names]
        width = max(len(name) for name in names)
        lines = [f"{self.method}: base {self.base_values:.4g}, with everything {self.full_values:.4g}, "
                 f"{self.evaluations} evaluations"]
        for index in np.argsort(-np.abs(self.values), kind="stable"):
            error = "" if self.errors is None else f" ± {error_text(self.errors[index])}"
            lines.append(f"  {names[index]:>{width}} {self.values[index]:+.4g}{error}")
        return "\n".join(lines)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        if not self._is_of_one_output():
            return {"text/plain": repr(self)}
        order = np.argsort(-np.abs(self.values), kind="stable")
        errors = None if self.errors is None else self.errors[order]
        table = bars_table(str(self).split("\n", 1)[0], [self.feature_names[index] for index in order],
                           self.values[order], errors)
        return {"text/plain": str(self), "text/html": table}


class FunctionExplainer:
    """Call it with an input, or with several."""

    def __init__(self, function: Callable, masker, method: str, options: dict, output_names):
        if not callable(function):
            raise InvalidInput("explain a function: it takes inputs and gives a number (or a row of numbers) for each")
        self._function, self._masker, self._method = function, as_masker(masker), method
        self._options, self._output_names = options, output_names
        self._progress = options.pop("progress", None)

    def __call__(self, x=None):
        """A FunctionExplanation, or a list of them."""
        if self._masker.is_one(x):
            return self._explain(x)
        several = [x.iloc[index] for index in range(len(x))] if hasattr(x, "iloc") else x
        with Bar("explaining", self._progress) as bar:
            results = []
            for index, one in enumerate(several):
                results.append(self._explain(one))
                bar.show(index + 1, len(several))
        return results

    def _explain(self, x) -> FunctionExplanation:
        masker = self._masker
        values = _Values(self._function, masker, x)
        varying = masker.varying(x)
        game = _native.Game(values, masker.players(x), values.outputs, varying, len(masker.weights), 256)
        method = self._method
        tree = masker.tree(x)
        if method == "auto":
            # As shap.Explainer chooses.
            method = "partition" if tree is not None else "exact" if sum(varying) <= 10 else "permutation"
        with Bar("evaluations", self._progress) as bar:
            found = _METHODS[method](game, tree, bar.callback, masker, **self._checked(method))
        name = method if method in ("lime", "shapley-taylor") else f"{method}-shap"
        return FunctionExplanation(name, found, masker.names(x), masker.data(x), values.scalar, self._output_names)

    def _checked(self, method: str) -> dict:
        known = list(inspect.signature(_METHODS[method]).parameters)[4:]
        for name in self._options:
            if name not in known:
                raise InvalidInput(f"{method} has no option {name!r}, only {', '.join(known)}")
        return self._options


class _Values:
    """What coalitions are worth. Those asked for before are remembered."""

    def __init__(self, function, masker: Masker, x):
        self._function, self._masker, self._x = function, masker, x
        self._known: dict[bytes, np.ndarray] = {}
        everything = np.ones((1, masker.players(x)), bool)
        answer = self._ask(everything)
        self.scalar = answer.ndim == 2
        self.outputs = 1 if self.scalar else answer.shape[2]
        self._known[everything.tobytes()] = self._means(answer)[0]

    def __call__(self, visible: np.ndarray, background) -> np.ndarray:
        visible = np.ascontiguousarray(visible, bool)
        if background is not None and len(self._masker.weights) > 1:
            return self._with_backgrounds(visible, background)
        keys = [row.tobytes() for row in visible]
        new = list(dict.fromkeys(key for key in keys if key not in self._known))
        if new:
            asked = np.frombuffer(b"".join(new), bool).reshape(len(new), -1)
            self._known.update(zip(new, self._means(self._ask(asked))))
        return np.ascontiguousarray([self._known[key] for key in keys], np.float64)

    def _with_backgrounds(self, visible: np.ndarray, background: np.ndarray) -> np.ndarray:
        """One background for each coalition; maskers that cannot pick one show all."""
        if hasattr(self._masker, "apply_one"):
            answers = self._answers(self._masker.apply_one(visible, self._x, background), len(visible), 1)
            return np.ascontiguousarray(self._by_background(answers)[:, 0])
        answers = self._by_background(self._ask(visible))
        return np.ascontiguousarray(answers[np.arange(len(visible)), background])

    def _by_background(self, answers: np.ndarray) -> np.ndarray:
        return answers[:, :, None] if self.scalar else answers

    def _means(self, answers: np.ndarray) -> np.ndarray:
        return np.einsum("nbo,b->no", self._by_background(answers), self._masker.weights)

    def _ask(self, visible: np.ndarray) -> np.ndarray:
        """[coalitions, backgrounds] or [coalitions, backgrounds, outputs]"""
        arguments = self._masker.apply(visible, self._x)
        return self._answers(arguments, len(visible), len(self._masker.weights))

    def _answers(self, arguments: tuple, coalitions: int, backgrounds: int) -> np.ndarray:
        answers = np.asarray(self._function(*arguments), dtype=np.float64)
        expected = coalitions * backgrounds
        if answers.ndim not in (1, 2) or len(answers) != expected:
            raise InvalidInput(f"the function was given {expected} inputs and gave an array {list(answers.shape)}: it "
                               "must give a number, or a row of numbers, for each")
        if not np.isfinite(answers).all():
            raise InvalidInput("the function gave something that is not a finite number")
        return answers.reshape(coalitions, backgrounds, *answers.shape[1:])


def _is_logit(link: str) -> bool:
    if link not in ("identity", "logit"):
        raise InvalidInput(f"link={link!r}: choose from identity, logit")
    return link == "logit"


def _exact(game, tree, progress, masker, max_evals=100000, owen=False, link="identity"):
    return _native.exact_shap(game, max_evals, tree if owen else None, _is_logit(link), progress)


def _permutation(game, tree, progress, masker, max_evals=500, seed=0, target_error=0.0, link="identity"):
    return _native.permutation_shap(game, max_evals, seed, target_error, tree, _is_logit(link), progress)


def _partition(game, tree, progress, masker, max_evals=500, batch_size=10, context="both", seed=0, link="identity"):
    if tree is None:
        raise InvalidInput("partition needs a tree over the players: use a masker that has one, or permutation")
    if context not in ("both", "hidden", "visible"):
        raise InvalidInput(f"context={context!r}: choose from both, hidden, visible")
    return _native.partition_shap(game, tree, context, max_evals, batch_size, seed, _is_logit(link), progress)


def _sampling(game, tree, progress, masker, samples=0, seed=0, target_error=0.0):
    return _native.sampling_shap(game, samples, seed, target_error, progress)


def _kernel(game, tree, progress, masker, samples=0, seed=0, selection="none", link="identity", target_error=0.0):
    found = _native.kernel_shap(game, samples, seed, selection, _is_logit(link), target_error, progress)
    if not found["determined"]:
        warnings.warn(f"{found['evaluations'] - 2} coalitions underdetermine the players (a coalition and its "
                      "complement give one equation). The minimum-norm solution is shown; its error is unknown. Raise "
                      "samples.", stacklevel=5)
    return found


def _shapley_taylor(game, tree, progress, masker, max_evals=100000):
    return _native.shapley_taylor(game, max_evals, progress)


def _lime(game, tree, progress, masker, samples=0, kernel_width=0.0, selection="auto", features=10, ridge=1.0, seed=0):
    if selection not in ("auto", "forward", "highest-weights", "none"):
        raise InvalidInput(f"selection={selection!r}: choose from auto, forward, highest-weights, none")
    return _native.lime(game, masker.is_picture, samples, kernel_width, selection, features, ridge, seed, progress)


_METHODS = {"exact": _exact, "permutation": _permutation, "partition": _partition, "sampling": _sampling,
            "kernel": _kernel, "shapley-taylor": _shapley_taylor, "lime": _lime}


def shap(function: Callable, masker, *, method: str = "auto", output_names=None, **options) -> FunctionExplainer:
    """Shapley values of any function.

        explain = wf.shap(classifier.predict_proba, background_rows)
        explain(row).values

    function  takes inputs, gives a number or a row of numbers for each
    masker    says how parts of an input are hidden: see whyformer.maskers; a table is the background of a Table
    method    "auto" (as shap.Explainer chooses), "exact", "kernel", "permutation", "partition", "sampling", or
              "shapley-taylor" for interactions
    options   of the method: max_evals, seed, target_error, …; and progress
    """
    name = method.replace("_", "-")
    name = name[:-len("-shap")] if name.endswith("-shap") else name
    if name != "auto" and (name not in _METHODS or name == "lime"):
        raise InvalidInput(f"method={method!r}: choose from auto, {', '.join(one for one in _METHODS if one != 'lime')}")
    return FunctionExplainer(function, masker, name, dict(options), output_names)


def lime(function: Callable, masker, *, output_names=None, **options) -> FunctionExplainer:
    """A linear model around an input, of any function: samples, kernel_width, selection, features, ridge, seed."""
    return FunctionExplainer(function, masker, "lime", dict(options), output_names)
