"""Cells of frames as they would be written in a file."""

from __future__ import annotations

import numpy as np


def is_missing(cell) -> bool:
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # NaN and NaT
    except (TypeError, ValueError):  # pandas.NA is neither
        return True


def cell_text(cell) -> str:
    """Empty for a missing one. Numbers keep all digits, and whole ones have no point."""
    if is_missing(cell):
        return ""
    if isinstance(cell, (bool, np.bool_)):
        return str(bool(cell))
    if isinstance(cell, (int, np.integer)):
        return str(int(cell))
    if isinstance(cell, (float, np.floating)):
        number = float(cell)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(cell)


def cell_rows(frame) -> list[list[str]]:
    columns = [[cell_text(cell) for cell in frame.iloc[:, index].tolist()] for index in range(len(frame.columns))]
    return [list(row) for row in zip(*columns)]
