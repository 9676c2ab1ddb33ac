"""Metrics for scores that come from anywhere: this package, captum, shap, your own array.

    def answers(hidden):                       # true where a unit is hidden, [questions, units]
        return [model_without(units) for units in hidden]

    wf.metrics.comprehensiveness(scores, answers)
    wf.metrics.sparseness(scores)
    wf.metrics.pointing_game(heat, mask)       # a mask is true where the reason is known to be
    wf.metrics.max_sensitivity(scores, noisy_scores, distances)

`catalogue()` lists the metrics with what they need; `whyformer.evaluate` measures methods over many inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from . import _native
from ._native import InvalidInput, MetricInfo

__all__ = ["Localisation", "MetricInfo", "catalogue", "enlarged", "localisation"]


def catalogue() -> list[MetricInfo]:
    """Every metric: name, summary, paper, which way is better, what it needs, and when it misleads."""
    return _native.metrics()


class Localisation:
    """Metrics over many maps of scores, each with its region.

    metrics  names of metrics that need a region; default: all of them
    """

    def __init__(self, metrics: Iterable[str] | None = None):
        names = [metric.name for metric in catalogue() if metric.needs == "region"] if metrics is None else list(metrics)
        self._metrics = {name: _native.Localisation(name) for name in names}

    def add(self, scores, region) -> None:
        """A map of scores and an array of true and false, of one shape."""
        scores, region = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(region, bool)
        if scores.shape != region.shape:
            raise InvalidInput(f"scores {list(scores.shape)} and region {list(region.shape)} must have one shape: "
                               "enlarged(scores, height, width) brings a picture's scores to the size of its mask")
        for metric in self._metrics.values():
            metric.add(scores, region)

    def values(self) -> dict[str, float | None]:
        """Over the maps so far for which a metric is defined; None where there is none."""
        return {name: metric.value() for name, metric in self._metrics.items()}


def localisation(scores, region, metrics: Iterable[str] | None = None) -> dict[str, float | None]:
    """The metrics of one map; None where one is not defined."""
    one = Localisation(metrics)
    one.add(scores, region)
    return one.values()


def enlarged(scores, height: int, width: int) -> np.ndarray:
    """Scores of patches [rows, columns] at every pixel [height, width]: bilinear, without corner alignment."""
    return _native.bilinear(np.ascontiguousarray(scores, np.float64), height, width)


def _by_answers(name: str) -> Callable:
    def measure(scores, answers: Callable, seed: int = 0) -> float | None:
        flat = np.ascontiguousarray(scores, np.float64).ravel()
        return _native.measure(name, flat, lambda hidden: [float(one) for one in answers(hidden)], seed)

    return measure


def _by_scores(name: str) -> Callable:
    def measure(scores) -> float | None:
        return _native.measure(name, np.ascontiguousarray(scores, np.float64).ravel(), None)

    return measure


def _by_region(name: str) -> Callable:
    def measure(scores, region) -> float | None:
        return localisation(scores, region, [name])[name]

    return measure


def _by_noisy_scores(name: str) -> Callable:
    def measure(scores, noisy_scores, distances) -> float | None:
        noisy = np.ascontiguousarray(noisy_scores, np.float64)
        lengths = np.ascontiguousarray(distances, np.float64).ravel()
        if noisy.ndim < 1 or len(noisy) != len(lengths):
            raise InvalidInput(f"{len(noisy) if noisy.ndim else 0} noisy inputs, but {len(lengths)} distances: give the "
                               "scores of each noisy input and the Euclidean length of its noise")
        flat = np.ascontiguousarray(scores, np.float64).ravel()
        return _native.measure_under_noise(name, flat, list(noisy.reshape(len(noisy), -1)), lengths.tolist())

    return measure


_MAKERS = {"answers": _by_answers, "scores": _by_scores, "region": _by_region, "noisy inputs": _by_noisy_scores}

for _metric in catalogue():
    if _metric.needs in _MAKERS:
        _function = _MAKERS[_metric.needs](_metric.name)
        _function.__name__ = _function.__qualname__ = _metric.name.replace("-", "_")
        _function.__doc__ = f"{_metric.summary[0].upper()}{_metric.summary[1:]} ({_metric.paper})."
        globals()[_function.__name__] = _function
        __all__.append(_function.__name__)
