"""Which values inside a model carry its answer: patching, causal tracing, ablation, the logit lens."""

from __future__ import annotations

import numpy as np

from . import _native
from ._choices import choice
from ._native import InvalidInput
from ._progress import Bar
from ._report import Report


class PatchGrid:
    """Effects of single patches: layers by tokens or heads. Cells without a number are NaN."""

    def __init__(self, grid: dict):
        self._grid = grid
        self.kind, self.rows, self.columns = grid["kind"], grid["rows"], grid["columns"]
        self.row_axis, self.column_axis = grid["row_axis"], grid["column_axis"]
        self.preview_rank = grid["preview_rank"]
        self.effects, self.changes = self._array("effects"), self._array("changes")
        self.errors, self.previews = self._array("errors"), self._array("previews")

    def _array(self, name: str) -> np.ndarray | None:
        return None if self._grid[name] is None else np.array(self._grid[name], dtype=np.float64)

    def to_pandas(self):
        """Effects, a row per layer."""
        import pandas

        return pandas.DataFrame(self.effects, index=self.rows, columns=self.columns)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.effects, dtype=dtype)

    def __repr__(self) -> str:
        return f"<{self.kind}: {len(self.rows)} × {len(self.columns)} effects>"


class PatchReport(Report):
    """Grids of effects: `report["residual"].effects` is a NumPy array."""

    @property
    def grids(self) -> list[PatchGrid]:
        return [PatchGrid(grid) for grid in self._dict["grids"]]

    def __getitem__(self, kind: str) -> PatchGrid:
        for grid in self._dict["grids"]:
            if grid["kind"] == kind:
                return PatchGrid(grid)
        raise KeyError(f"no grid {kind!r}, only {', '.join(grid['kind'] for grid in self._dict['grids'])}")


def _receiver(path) -> tuple[str, int, int]:
    """("query", 5, 2), or "output"."""
    if isinstance(path, str):
        return path, -1, -1
    try:
        what, layer, head = path
        return str(what), int(layer), int(head)
    except (TypeError, ValueError):
        raise InvalidInput(f"path={path!r}: give \"output\", or (\"query\", layer, head), also key and value") from None


def _noise(noise) -> _native.NoiseRequest:
    settings = dict(noise) if isinstance(noise, dict) else {"tokens": noise}
    request = _native.NoiseRequest()
    for name, value in settings.items():
        if name not in ("tokens", "scale", "draws", "window"):
            raise InvalidInput(f"noise has no {name!r}, only tokens, scale, draws and window")
        if name == "tokens":
            value = [int(one) for one in ([value] if isinstance(value, int) else value)]
        setattr(request, name, value)
    return request


def _request(given: dict, default_kinds: bool) -> _native.PatchRequest:
    request = _native.PatchRequest()
    kinds = given["kinds"]
    if not default_kinds and kinds is not None:
        raise InvalidInput(f"kinds={kinds!r} is about patching and noise: leave it out")
    if kinds is not None:
        request.kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    request.target, request.against = given["target"], given["against"]
    metric = given["metric"]
    request.metric = choice(_native.PatchMetric, "metric", metric.replace("-", "_") if isinstance(metric, str) else metric)
    request.precision = choice(_native.Precision, "precision", given["precision"])
    request.preview, request.exact_share = given["preview"], given["exact_share"]
    request.seed, request.memory_bytes = given["seed"], given["memory_megabytes"] << 20
    return request


def patch(model, clean, corrupted, noise, ablate, lens, path, progress, **given) -> PatchReport:
    others = [noise is not None, ablate is not None, bool(lens)]
    if sum(others) > 1:
        raise InvalidInput("choose one of noise, ablate and lens")
    if any(others) and (corrupted is not None or path is not None):
        raise InvalidInput("noise, ablate and lens look at one input: leave out corrupted and path")
    if not any(others) and corrupted is None:
        raise InvalidInput("give corrupted, an input with another answer, or one of noise, ablate and lens")
    if (any(others) or path is not None) and (not given["preview"] or given["exact_share"] != 1):
        raise InvalidInput("preview and exact_share are about patching between two inputs: leave them out")
    request = _request(given, default_kinds=not (ablate or lens or path is not None))
    own = model._input(clean)
    native = model._native
    with Bar("runs", progress) as bar:
        if noise is not None:
            return PatchReport(_native.trace_causes(native, own, _noise(noise), request, bar.callback))
        if ablate is not None:
            how = choice(_native.HeadAblation, "ablate", ablate)
            return PatchReport(_native.ablate_heads(native, own, how, request, bar.callback))
        if lens:
            return PatchReport(_native.logit_lens(native, own, request, bar.callback))
        other = model._input(corrupted)
        if path is not None:
            return PatchReport(_native.patch_paths(native, own, other, *_receiver(path), request, bar.callback))
        return PatchReport(_native.patch(native, own, other, request, bar.callback))
