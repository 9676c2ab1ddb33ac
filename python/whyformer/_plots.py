"""Pictures with matplotlib, for those who arrange their own figures."""

from __future__ import annotations

import numpy as np

from ._display import AGAINST, FOR


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
