#!/usr/bin/env python3
"""Writes tests/golden/learned.json: ridge regression with leave-one-out errors, and probes, of scikit-learn.

Made with Python 3.11, scikit-learn 1.9.1, NumPy 2.4.6:

    pip install scikit-learn==1.9.1 numpy==2.4.6
    python scripts/golden/learned_golden.py

`logistic` is one against the rest with C = 1, its intercepts unpenalised, fitted until it is stationary.
"""

import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeCV

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/learned.json"
PENALTIES = [0.01, 0.3, 10.0, 300.0]


def numbers(array):
    return [float(x) for x in np.asarray(array, dtype=np.float64).ravel()]


def case(seed, rows, width):
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % 3
    # Numbers that floats hold exactly.
    x = np.round((rng.normal(size=(rows, width)) + np.eye(3, width)[labels] + 2) * 64) / 64
    y = np.eye(3)[labels]
    ridge = RidgeCV(PENALTIES, store_cv_results=True).fit(x, y)
    errors = ridge.cv_results_.reshape(rows * 3, len(PENALTIES)).mean(axis=0)
    weights, intercepts = [], []
    for label in range(3):
        fit = LogisticRegression(C=1.0, tol=1e-12, max_iter=100000, solver="newton-cholesky").fit(x, labels == label)
        weights.append(fit.coef_[0])
        intercepts.append(fit.intercept_[0])
    return {"rows": rows, "width": width, "x": numbers(x), "labels": labels.tolist(), "penalties": PENALTIES,
            "errors": numbers(errors), "penalty": float(ridge.alpha_), "weights": numbers(ridge.coef_),
            "intercepts": numbers(ridge.intercept_),
            "logistic": {"weights": numbers(weights), "intercepts": numbers(intercepts)}}


if __name__ == "__main__":
    cases = [case(1, 30, 6), case(2, 12, 20)]
    FILE.write_text("[\n" + ",\n".join(json.dumps(one) for one in cases) + "\n]\n")
