"""Scores from the highest to the lowest."""

import numpy as np


def order_of(scores):
    return list(np.argsort(-scores, kind="stable"))


def without_ties(scores):
    """The same ranking where the sort is not stable."""
    return scores - 1e-9 * np.arange(len(scores))
