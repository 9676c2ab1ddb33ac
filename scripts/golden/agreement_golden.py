#!/usr/bin/env python3
"""Writes tests/golden/agreement.json: correlations, paired tests and tests of uniformity as SciPy computes them.

Made with Python 3.11, SciPy 1.17.1, NumPy 2.4.6:

    pip install scipy==1.17.1 numpy==2.4.6
    python scripts/golden/agreement_golden.py

What SciPy calls nan is null.
"""

import json
import math
import pathlib
import warnings

import numpy as np
from scipy import stats

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/agreement.json"
SIZES = [2, 3, 5, 33, 34, 200]
warnings.filterwarnings("ignore")


def number(x):
    return None if math.isnan(x) else float(x)


def numbers(array):
    return [float(x) for x in array]


def tested(result):
    return {"value": number(result.statistic), "p_value": number(result.pvalue)}


def correlation_case(name, a, b):
    return {"name": name, "a": numbers(a), "b": numbers(b), "pearson": number(stats.pearsonr(a, b).statistic),
            "spearman": tested(stats.spearmanr(a, b)), "kendall": tested(stats.kendalltau(a, b))}


def swapped(count, *places):
    """1 ... count with some neighbours swapped: as many discordant pairs."""
    order = np.arange(1.0, count + 1)
    for place in places:
        order[[place, place + 1]] = order[[place + 1, place]]
    return order


def correlation_cases(rng):
    for count in SIZES:
        a, b = np.round(rng.normal(size=(2, count)), 4)
        yield correlation_case(f"random {count}", a, np.round(a + 2 * b, 4))
        yield correlation_case(f"reversed {count}", a, -(a**3))
        if count > 2:
            yield correlation_case(f"alike {count}", a, np.round(a + b / 10, 4))
            yield correlation_case(f"ties {count}", np.arange(count) // 2, rng.integers(0, count // 2 + 2, count))
    for count in (5, 33, 200):
        levels, b = rng.integers(0, 3, count), np.round(rng.normal(size=count), 4)
        yield correlation_case(f"ties on one side {count}", levels, b)
        zeros = np.where(rng.random(count) < 0.2, np.round(rng.normal(size=count), 2), 0)
        zeros[0] = 1
        fewer = np.where(rng.random(count) < 0.5, zeros, 0) + (zeros == 1)
        yield correlation_case(f"mostly zeros {count}", zeros, fewer)
        yield correlation_case(f"constant {count}", np.full(count, 0.1), np.arange(count))
    for count, places in ((34, [0]), (34, [0, 5]), (100, [98]), (100, [1, 50])):
        upwards = np.arange(1.0, count + 1)
        yield correlation_case(f"{len(places)} of {count} swapped", upwards, swapped(count, *places))
        yield correlation_case(f"{len(places)} of {count} swapped, reversed", upwards, -swapped(count, *places))
    yield correlation_case("far from zero", 1e6 + rng.integers(0, 50, 20), 1e6 - rng.integers(0, 50, 20))
    yield correlation_case("constant 2", [1, 1], [1, 2])


def paired_case(name, a, b):
    a, b = np.round(np.asarray(a, dtype=float), 6), np.asarray(b, dtype=float)  # a small file
    test = stats.wilcoxon(a, b, zero_method="wilcox", correction=False, method="auto")
    return {"name": name, "a": numbers(a), "b": numbers(b), "statistic": number(test.statistic),
            "p_value": number(test.pvalue)}


def paired_cases(rng):
    for count in (1, 2, 5, 13, 14, 33, 50, 51, 200):
        a, b = np.round(rng.normal(size=(2, count)), 6)
        yield paired_case(f"random {count}", a + 0.3, b)
        yield paired_case(f"better {count}", np.abs(a) + b, b)
    for count in (3, 5, 13, 14, 34, 50, 51, 200):
        a = rng.integers(1, 6, count) * rng.choice([-1, 1], count)
        yield paired_case(f"ties {count}", a, np.zeros(count))
        a[0] = 0
        yield paired_case(f"ties and zeros {count}", a + 4, np.full(count, 4))
        b = np.round(rng.normal(size=count), 6)
        difference = np.where(np.arange(count) % 4 == 1, 0, np.round(rng.normal(size=count), 5))
        yield paired_case(f"zeros {count}", b + difference, b)
    yield paired_case("one of two differs", [1, 2], [1, 3])


def uniformity_cases(rng):
    for count in (1, 2, 7, 40, 130):  # SciPy approximates above 140
        for name, sample in (("uniform", rng.random(count)), ("squared", rng.random(count) ** 2),
                             ("even", (np.arange(count) + 0.5) / count)):
            sample = np.round(sample, 4)
            yield {"name": f"{name} {count}", "sample": numbers(sample), **tested(stats.kstest(sample, "uniform"))}


def main():
    rng = np.random.default_rng(12)
    groups = {"correlations": correlation_cases(rng), "paired": paired_cases(rng), "uniformity": uniformity_cases(rng)}
    texts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]" for name, cases in groups.items()]
    FILE.write_text("{\n" + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    main()
