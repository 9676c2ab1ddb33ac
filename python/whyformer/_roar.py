"""Remove and retrain (Hooker et al., NeurIPS 2019) for tables: accuracy of models that are trained again without the
columns that a method ranks highest."""

from __future__ import annotations

import json
import time

import numpy as np

from ._native import InvalidInput

SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


def columns_removed(share: float, columns: int) -> int:
    """How many columns a share is: at least one unless it is 0, halves to the even number."""
    return 0 if share == 0 else max(1, round(share * columns))


def without_highest(rows: np.ndarray, scores: np.ndarray, count: int, neutral: np.ndarray) -> np.ndarray:
    """Rows with the `count` columns of the highest scores, row by row, replaced; of equal ones the first goes first."""
    changed = np.array(rows, copy=True)
    highest = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    np.put_along_axis(changed, highest, np.broadcast_to(neutral, rows.shape)[np.arange(len(rows))[:, None], highest],
                      axis=1)
    return changed


def remove_and_retrain(model, rows, labels, training, train, methods, *, options=None, background=None,
                       repeats: int = 3, seed: int = 0, random_name: str = "random") -> list[str]:
    """A line of JSON for each test row, as `whyformer evaluate` keeps them."""
    train_rows, train_labels = training
    names = _names(rows)
    test, fitting = _numbers(rows), _numbers(train_rows)
    labels, train_labels = np.asarray(labels), np.asarray(train_labels)
    if test.shape[1] != fitting.shape[1] or len(test) != len(labels) or len(fitting) != len(train_labels):
        raise InvalidInput(f"rows {list(test.shape)} with {len(labels)} labels and training rows {list(fitting.shape)} "
                           f"with {len(train_labels)} labels do not fit")
    begun = time.perf_counter()
    of_test = _scores(model, rows, names, methods, options, background, seed)
    of_training = _scores(model, train_rows, names, methods, options, background, seed)
    draws = np.random.default_rng(seed)
    of_test[random_name], of_training[random_name] = draws.random(test.shape), draws.random(fitting.shape)
    neutral = fitting.mean(axis=0)
    curves = {}
    for method in of_test:
        curve = [_right(train, without_highest(fitting, of_training[method], count, neutral), train_labels,
                        without_highest(test, of_test[method], count, neutral), labels, names, repeats, seed)
                 if share > 0 or method == next(iter(of_test)) else curves[next(iter(of_test))][:, 0]
                 for share, count in ((share, columns_removed(share, test.shape[1])) for share in SHARES)]
        curves[method] = np.stack(curve, axis=1)
    return [_line(row, labels[row], {method: curve[row] for method, curve in curves.items()}, test.shape[1],
                  (time.perf_counter() - begun) / len(test)) for row in range(len(test))]


def _names(rows) -> list[str]:
    return [str(name) for name in rows.columns] if hasattr(rows, "columns") else []


def _numbers(rows) -> np.ndarray:
    return np.asarray(rows, dtype=np.float64)


def _scores(model, rows, names, methods, options, background, seed) -> dict[str, np.ndarray]:
    """[rows, columns] for each method."""
    found: dict[str, list] = {}
    for explanation in model.explain(rows, methods, options=options, background=background, seed=seed):
        for attribution in explanation:
            columns = [score for unit, score in zip(explanation.units, attribution.scores) if not unit.special]
            found.setdefault(attribution.method, []).append(columns)
    return {method: np.asarray(scores, dtype=np.float64) for method, scores in found.items()}


def _right(train, rows, labels, test, test_labels, names, repeats, seed) -> np.ndarray:
    """How often, in per cent of the repetitions, each test row gets its label."""
    def framed(numbers):
        if not names:
            return numbers
        import pandas

        return pandas.DataFrame(numbers, columns=names)

    right = np.zeros(len(test))
    for repeat in range(repeats):
        predict = train(framed(rows), labels, seed + repeat)
        right += np.asarray(predict(framed(test))) == test_labels
    return 100 * right / repeats


def _line(row: int, label, curves: dict, columns: int, seconds: float) -> str:
    methods = []
    for method, curve in curves.items():
        area = float(np.sum(np.diff(SHARES) * (curve[1:] + curve[:-1]) / 2))
        methods.append({"method": method, "values": [area, *map(float, curve)], "reversed": [],
                        "cost": {"forwards": 0, "backwards": 0, "seconds": 0.0}})
    return json.dumps({"name": f"row {row}", "target": str(label), "units": columns, "problem": "", "methods": methods,
                       "refused": [], "evaluations": 0, "seconds": seconds})
