"""Pictures with matplotlib, for those who arrange their own figures."""

from __future__ import annotations

import numpy as np

from ._display import AGAINST, FOR
from ._native import InvalidInput


def _pyplot():
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib; or save('x.svg'), which needs nothing"
                          ) from None
    return pyplot


def plot_attribution(attribution, ax=None):
    if ax is None:
        _, ax = _pyplot().subplots(layout="constrained")
    explanation = attribution.explanation
    if explanation.picture is not None:
        _draw_over_picture(attribution, ax)
    else:
        draw_bars(ax, [unit.text for unit in attribution.units], np.asarray(attribution.scores), attribution.errors, "score")
    ax.set_title(f"{attribution.method}: {explanation.target.label}")
    return ax


def _draw_over_picture(attribution, ax) -> None:
    picture = attribution.explanation.picture
    grid = np.asarray(attribution.heat_map)
    most = np.abs(grid).max() or 1
    extent = (0, picture.width, picture.height, 0)
    ax.imshow(picture.rgb, extent=extent)
    signed = attribution.is_signed
    ax.imshow(grid, extent=extent, cmap="RdBu" if signed else "viridis", alpha=0.6, interpolation="bilinear",
              vmin=-most if signed else grid.min(), vmax=most)
    ax.set_axis_off()


def plot_attention(explanation, layer: int, head: int | None = None, ax=None):
    map_ = _attention_map(explanation.attention, layer, head)
    if ax is None:
        _, ax = _pyplot().subplots(layout="constrained")
    if explanation.picture is not None and explanation.pair is None:
        _draw_row_over_picture(explanation, map_, ax)
    else:
        _draw_map(explanation.units, map_, ax)
    ax.set_title(f"layer {layer}, " + ("mean over heads" if head is None else f"head {head}"))
    return ax


def _attention_map(maps, layer: int, head: int | None) -> np.ndarray:
    """[queries, keys]"""
    if not maps:
        raise InvalidInput("the explanation holds no attention maps of all units")
    if not 0 <= layer < len(maps):
        raise InvalidInput(f"there is no layer {layer}; the model has layers 0 to {len(maps) - 1}")
    heads = np.asarray(maps[layer])
    if head is None:
        return heads.mean(axis=0)
    if not 0 <= head < len(heads):
        raise InvalidInput(f"there is no head {head}; layer {layer} has heads 0 to {len(heads) - 1}")
    return heads[head]


def _draw_map(units, map_: np.ndarray, ax) -> None:
    ax.imshow(map_, cmap="viridis", vmin=0)
    names = [unit.text for unit in units]
    if map_.shape[1] == len(names):
        ax.set_xticks(range(len(names)), names, rotation=90)
    if map_.shape[0] == len(names):
        ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("keys")
    ax.set_ylabel("queries")


def _draw_row_over_picture(explanation, map_: np.ndarray, ax) -> None:
    picture = explanation.picture
    first, count = picture.first_patch, picture.rows * picture.columns
    readers = [index for index, unit in enumerate(explanation.units) if unit.special]
    row = map_[readers[0]] if readers else map_.mean(axis=0)
    extent = (0, picture.width, picture.height, 0)
    ax.imshow(picture.rgb, extent=extent)
    ax.imshow(row[first:first + count].reshape(picture.rows, picture.columns), extent=extent, cmap="viridis", alpha=0.6,
              interpolation="bilinear")
    ax.set_axis_off()


def draw_bars(ax, names, values: np.ndarray, errors, label: str) -> None:
    places = np.arange(len(values))
    ax.barh(places, values, color=np.where(values < 0, AGAINST, FOR), xerr=errors)
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.set_xlabel(label)


def plot_explanation(explanation, axes=None):
    if axes is None:
        count = max(len(explanation), 1)
        height = 4 if explanation.picture is not None else max(2.0, 0.28 * len(explanation.units) + 0.8)
        _, axes = _pyplot().subplots(1, count, figsize=(4 * count, height), squeeze=False, layout="constrained",
                                     sharey=explanation.picture is None)
        axes = axes[0]
    for attribution, ax in zip(explanation, np.atleast_1d(axes)):
        plot_attribution(attribution, ax)
    return axes
