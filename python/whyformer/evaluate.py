"""How well do scores find what is known to matter?

    heat = wf.evaluate.enlarged(result["gae"].heat_map, *mask.shape)
    wf.evaluate.localisation(heat, mask)["pointing-game"]

A mask is true where the object of the explained class is. `metrics()` lists the metrics.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from . import _native
from ._native import InvalidInput, MetricInfo, metrics

__all__ = ["Localisation", "MetricInfo", "enlarged", "localisation", "metrics"]


class Localisation:
    """Metrics over many maps of scores, each with its region.

    metrics  names from `metrics()`; default: all
    """

    def __init__(self, metrics: Iterable[str] | None = None):
        names = [metric.name for metric in _native.metrics()] if metrics is None else list(metrics)
        self._metrics = {name: _native.Localisation(name) for name in names}

    def add(self, scores, region) -> None:
        """A map of scores and an array of true and false, of one shape."""
        scores, region = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(region, bool)
        if scores.shape != region.shape:
            raise InvalidInput(f"scores {list(scores.shape)} and region {list(region.shape)} must have one shape: "
                               "enlarged(scores, height, width) brings a picture's scores to the size of its mask")
        for metric in self._metrics.values():
            metric.add(scores, region)

    def values(self) -> dict[str, float]:
        """Over all maps so far."""
        return {name: metric.value() for name, metric in self._metrics.items()}


def localisation(scores, region, metrics: Iterable[str] | None = None) -> dict[str, float]:
    """The metrics of one map."""
    one = Localisation(metrics)
    one.add(scores, region)
    return one.values()


def enlarged(scores, height: int, width: int) -> np.ndarray:
    """Scores of patches [rows, columns] at every pixel [height, width]: bilinear, without corner alignment."""
    return _native.bilinear(np.ascontiguousarray(scores, np.float64), height, width)
