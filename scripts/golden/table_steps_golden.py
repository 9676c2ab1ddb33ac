#!/usr/bin/env python3
"""Writes what scikit-learn's transformers make of numbers: steps.json, a table.json with a column for each of them, and
steps.safetensors with the numbers and the results.

Made with Python 3.11, NumPy 2.4.6, SciPy 1.17.1, scikit-learn 1.9.1, torch 2.15.0 and safetensors 0.8.0
(pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 torch==2.15.0 safetensors==0.8.0).

    python scripts/golden/table_steps_golden.py tests/golden/tables
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from sklearn import preprocessing

RANDOM = np.random.RandomState(17)


def around(points):
    """The points themselves, their neighbours, and what lies by scikit-learn's margin of 1e-7 around them."""
    points = np.asarray(points, dtype=float)
    shifts = [0, 1e-7, -1e-7, 9.999e-8, -9.999e-8, 1.0001e-7, -1.0001e-7, 1e-9, -1e-9]
    return np.concatenate([points + shift for shift in shifts]
                          + [np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])


def values(column, count, ends):
    """Numbers of the column, between and outside them, around the ends, and NaN."""
    spread = column.max() - column.min()
    return np.concatenate([
        around(ends), [np.nan, 0.0, -0.0],
        RANDOM.choice(column, count // 2),
        RANDOM.uniform(column.min() - 0.1 * spread, column.max() + 0.1 * spread, count - count // 2)])


def transformed(transformer, numbers):
    return transformer.transform(numbers[:, None])[:, 0]


def quantile(column, to, number):
    fitted = preprocessing.QuantileTransformer(n_quantiles=number, output_distribution=to).fit(column[:, None])
    step = {"op": "quantile", "to": to, "quantiles": fitted.quantiles_[:, 0].tolist(),
            "references": fitted.references_.tolist()}
    return fitted, [step]


def power(column, method, standardize=True):
    fitted = preprocessing.PowerTransformer(method, standardize=standardize).fit(column[:, None])
    step = {"op": "power", "kind": method, "lambda": float(fitted.lambdas_[0])}
    if standardize:
        step |= {"mean": float(fitted._scaler.mean_[0]), "scale": float(fitted._scaler.scale_[0])}
    return fitted, [step]


def quantile_cases(signed, skewed, ages, hours):
    for name, column, number, count in [("continuous", signed, 100, 1600), ("ages", ages, 100, 1000),
                                        ("hours", hours, 200, 1000), ("two quantiles", skewed, 2, 200)]:
        for to in ("normal", "uniform"):
            fitted, steps = quantile(column, to, number)
            points = fitted.quantiles_[:, 0]
            ends = [points[0], points[-1], points[1], 40.0]
            numbers = values(column, count if to == "normal" else count // 2, ends)
            yield f"{name} to {to}", steps, numbers, transformed(fitted, numbers)


def power_cases(signed, skewed):
    for name, fitted, steps in [("yeo-johnson of skewed", *power(skewed, "yeo-johnson")),
                                ("yeo-johnson of signed", *power(signed, "yeo-johnson")),
                                ("yeo-johnson, not scaled", *power(-skewed, "yeo-johnson", False))]:
        numbers = values(signed, 500, [0.0, -1.0])
        yield name, steps, numbers, transformed(fitted, numbers)
    for exponent in (0.0, 2.0, 1e-3, 2 - 1e-3):  # where its formula changes
        fitted, steps = power(signed, "yeo-johnson")
        fitted.lambdas_[0] = steps[0]["lambda"] = exponent
        numbers = values(signed, 100, [0.0, -1.0])
        yield f"yeo-johnson with {exponent}", steps, numbers, transformed(fitted, numbers)
    fitted, steps = power(skewed, "box-cox")
    numbers = np.append(RANDOM.choice(skewed, 400), [np.nan, 1e-12, 1e6])
    yield "box-cox", steps, numbers, transformed(fitted, numbers)


def scaler_cases(signed, skewed):
    scaler = preprocessing.StandardScaler().fit(skewed[:, None])
    numbers = values(skewed, 300, [0.0, scaler.mean_[0]])
    step = {"op": "standard", "mean": float(scaler.mean_[0]), "scale": float(scaler.scale_[0])}
    yield "standard", [step], numbers, transformed(scaler, numbers)

    scaler = preprocessing.MinMaxScaler((-1, 2), clip=True).fit(signed[:, None])
    numbers = values(signed, 300, [signed.min(), signed.max()])
    step = {"op": "min-max", "min": float(scaler.min_[0]), "scale": float(scaler.scale_[0])}
    yield "min-max, clipped", [step | {"clip": True, "least": -1, "most": 2}], numbers, transformed(scaler, numbers)
    scaler.clip = False
    yield "min-max", [step], numbers, transformed(scaler, numbers)

    scaler = preprocessing.RobustScaler(quantile_range=(10, 80)).fit(skewed[:, None])
    numbers = values(skewed, 300, [scaler.center_[0]])
    step = {"op": "robust", "center": float(scaler.center_[0]), "scale": float(scaler.scale_[0])}
    yield "robust", [step], numbers, transformed(scaler, numbers)


def bin_cases(ages):
    bins = preprocessing.KBinsDiscretizer(7, encode="ordinal", strategy="quantile",
                                          quantile_method="averaged_inverted_cdf").fit(ages[:, None])
    numbers = values(ages, 300, bins.bin_edges_[0])
    numbers = numbers[~np.isnan(numbers)]  # which KBinsDiscretizer refuses
    yield "bins", [{"op": "bins", "edges": bins.bin_edges_[0].tolist()}], numbers, transformed(bins, numbers)


def function_cases(signed, skewed):
    numbers = np.append(RANDOM.choice(skewed, 200), [np.nan, 0, 1e-15, -0.5, 1e300])
    yield "log1p", [{"op": "log1p"}], numbers, np.log1p(numbers)
    numbers = values(signed, 200, [-1.0, 2.0])
    yield "clip", [{"op": "clip", "least": -1, "most": 2}], numbers, np.clip(numbers, -1, 2)

    norm = torch.nn.BatchNorm1d(1, eps=1e-3, dtype=torch.float64).eval()
    norm.running_mean[:], norm.running_var[:] = 2.5, 7.25
    norm.weight.data[:], norm.bias.data[:] = -0.75, 0.3
    step = {"op": "batch-norm", "mean": 2.5, "variance": 7.25, "epsilon": 1e-3, "weight": -0.75, "bias": 0.3}
    yield "batch-norm", [step], numbers, norm(torch.tensor(numbers)[:, None]).detach().numpy()[:, 0]


def chain_cases(skewed):
    chain_first = preprocessing.RobustScaler().fit(skewed[:, None])
    between = transformed(chain_first, skewed)
    chain_last, steps = quantile(between, "normal", 50)
    numbers = values(skewed, 300, [skewed.min(), skewed.max()])
    first = {"op": "robust", "center": float(chain_first.center_[0]), "scale": float(chain_first.scale_[0])}
    yield "robust, then quantile", [first, *steps], numbers, transformed(chain_last, transformed(chain_first, numbers))


def cases():
    """The name, the steps, the numbers and what scikit-learn makes of them."""
    skewed = RANDOM.lognormal(1, 1.5, 2000)
    signed = RANDOM.standard_t(3, 2000)
    ages = RANDOM.randint(17, 91, 3000).astype(float)  # whole numbers: many quantiles are equal
    hours = np.where(RANDOM.rand(3000) < 0.6, 40, RANDOM.randint(1, 100, 3000)).astype(float)

    yield from quantile_cases(signed, skewed, ages, hours)
    yield from power_cases(signed, skewed)
    yield from scaler_cases(signed, skewed)
    yield from bin_cases(ages)
    yield from function_cases(signed, skewed)
    yield from chain_cases(skewed)


def main(folder):
    columns, tensors = [], {}
    for name, steps, numbers, expected in cases():
        columns.append({"name": name, "kind": "number", "input": "x", "at": [len(columns)], "missing": {"how": "nan"},
                        "steps": steps})
        tensors[f"{name}.numbers"] = np.ascontiguousarray(numbers, dtype=np.float64)
        tensors[f"{name}.expected"] = np.ascontiguousarray(expected, dtype=np.float64)
    spec = {"schema": "whyformer.table/1", "task": {"kind": "regression"}, "columns": columns}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "steps.json").write_text(json.dumps(spec, separators=(",", ":")) + "\n")
    save_file(tensors, folder / "steps.safetensors")
    print(sum(tensor.size for tensor in tensors.values()) // 2, "numbers of", len(columns), "columns")


main(Path(sys.argv[1]))
