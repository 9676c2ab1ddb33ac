#!/usr/bin/env python3
"""Writes tests/golden/games/*_fit.json: Kernel SHAP, LIME, permutation importance and k-means of the packages.

Made with Python 3.11, shap 0.51.0, lime 0.2.0.1, scikit-learn 1.9.1, NumPy 2.4.6:

    pip install shap==0.51.0 lime==0.2.0.1 scikit-learn==1.9.1 numpy==2.4.6
    python scripts/golden/games_fit_golden.py

Games are tables: the worth of every coalition, bit i of the row number for player i. Players that do not vary have
no bit. Tables of three background rows are averaged here with their weights.
"""

import json
import pathlib
import warnings

import numpy as np
import shap
from lime.lime_image import LimeImageExplainer
from lime.lime_text import LimeTextExplainer
from shap.utils._legacy import DenseData
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/games"
warnings.filterwarnings("ignore")


def numbers(array):
    return [float(x) for x in np.asarray(array, dtype=np.float64).ravel()]


def write(name, cases):
    text = ",\n".join(json.dumps(case) for case in cases)
    (FOLDER / name).write_text(f"[\n{text}\n]\n")


def table_game(rng, players, outputs, backgrounds, probabilities):
    """Some of each player's own, some of each pair, some noise."""
    masks = (np.arange(2**players)[:, None] >> np.arange(players)) & 1
    tables = []
    for _ in range(backgrounds):
        alone = rng.normal(size=(players, outputs)) * (rng.random((players, 1)) < 0.7)
        pairs = rng.normal(size=(players, players, outputs)) * 0.3
        table = masks @ alone + np.einsum("si,sj,ijo->so", masks, masks, pairs)
        table += 0.2 * rng.normal(size=table.shape)
        if probabilities:
            table = 1 / (1 + np.exp(-table / 2))
        tables.append(np.round(table, 3))  # keeps the files small
    for table in tables:
        table[-1] = tables[0][-1]  # nothing of a background is seen when all are visible
    return np.array(tables)


def kernel_case(seed, players, still, outputs, backgrounds, link, selection, samples):
    rng = np.random.default_rng(seed)
    tables = table_game(rng, players, outputs, backgrounds, link == "logit")
    weights = np.array([1.0, 2.0, 1.0])[:backgrounds]
    all_players = players + len(still)
    moving = [i for i in range(all_players) if i not in still]
    x = np.ones((1, all_players))
    data = np.repeat(-1.0 - np.arange(backgrounds)[:, None], all_players, axis=1)
    data[:, still] = 1

    def model(rows):
        rows = np.asarray(rows)[:, moving]
        shown = rows == 1
        codes = shown @ (1 << np.arange(players))
        background = np.where(shown.all(1), 0, -1 - rows.min(1)).astype(int)
        return tables[background, codes]

    explainer = shap.KernelExplainer(model, DenseData(data, [str(i) for i in range(all_players)], None, weights),
                                     link=link)
    np.random.seed(seed)
    l1_reg = False if selection == "none" else float(selection) if selection[0] == "0" else selection
    values = explainer.shap_values(x, nsamples=samples or "auto", l1_reg=l1_reg, silent=True)[0]
    mean = np.einsum("b,bso->so", weights / weights.sum(), tables)
    return {
        "players": all_players, "still": still, "outputs": outputs, "link": link, "selection": selection,
        "samples": samples, "seed": seed, "table": numbers(np.round(mean, 5)), "values": numbers(values),
    }


def sine_case(seed, players, selection, samples):
    """The sine of a sum: interactions of all orders among more players than a table could hold."""
    angles = np.round(np.random.default_rng(seed).normal(size=players), 3)
    explainer = shap.KernelExplainer(lambda rows: np.sin(rows @ angles), np.zeros((1, players)))
    np.random.seed(seed)
    values = explainer.shap_values(np.ones((1, players)), nsamples=samples or "auto",
                                   l1_reg=False if selection == "none" else selection, silent=True)[0]
    return {"players": players, "selection": selection, "samples": samples, "seed": seed, "angles": numbers(angles),
            "values": numbers(values)}


def kernel_cases():
    cases = []
    for players in range(1, 13):
        few = max(2 * players, 2**players // 5)
        cases.append(kernel_case(players, players, [], 1, 1, "identity", "none", 0))
        cases.append(kernel_case(20 + players, players, [1], 1 + players % 2, 3, "logit", "none", few))
    for number, selection in enumerate(["num_features(3)", "num_features(10)", "aic", "bic", "auto", "0.02", "0.1"]):
        for players, samples in [(5, 0), (8, 60), (9, 200), (11, 300), (12, 0)][:5 if number < 2 else 4]:
            link = "identity" if (number + players) % 2 else "logit"
            outputs = 2 if players == 9 else 1
            cases.append(kernel_case(100 * players + number, players, [0] if players == 9 else [], outputs, 1, link,
                                     selection, samples))
    return cases


def local_fit(explanation, label, words):
    pairs = explanation.local_exp[label]
    coefficients = np.zeros(words)
    for word, value in pairs:
        coefficients[word] = value
    return {"intercept": float(explanation.intercept[label]), "coefficients": numbers(coefficients),
            "selected": [int(word) for word, _ in pairs], "r_squared": float(explanation.score),
            "local_prediction": float(explanation.local_pred[0])}


def lime_words_case(seed, words, samples, features, selection, width):
    rng = np.random.default_rng(seed)
    table = table_game(rng, words, 1, 1, True)[0][:, 0]
    names = [f"word{i:02}" for i in range(words)]

    def classify(texts):
        p = np.array([table[sum(1 << i for i in range(words) if names[i] in text)] for text in texts])
        return np.stack([1 - p, p], axis=1)

    explainer = LimeTextExplainer(kernel_width=width, feature_selection=selection, random_state=seed)
    explanation = explainer.explain_instance(" ".join(names), classify, labels=(1,), num_features=features,
                                             num_samples=samples)
    return {"neighbours": "words", "players": words, "samples": samples, "features": features,
            "selection": selection, "width": width, "seed": seed, "table": numbers(table),
            **local_fit(explanation, 1, words)}


def lime_picture_case(seed, parts, samples, width):
    rng = np.random.default_rng(seed)
    table = table_game(rng, parts, 1, 1, True)[0][:, 0]
    picture = np.repeat(np.arange(1, parts + 1)[None, :, None], 3, axis=2).astype(float)

    def classify(pictures):
        shown = np.asarray(pictures)[:, 0, :, 0] > 0
        p = table[shown @ (1 << np.arange(parts))]
        return np.stack([1 - p, p], axis=1)

    explainer = LimeImageExplainer(kernel_width=width, random_state=seed)
    explanation = explainer.explain_instance(picture, classify, labels=(1,), hide_color=0, top_labels=None,
                                             num_samples=samples,
                                             segmentation_fn=lambda image: np.arange(parts)[None, :])
    return {"neighbours": "parts", "players": parts, "samples": samples, "features": 100000, "selection": "auto",
            "width": width, "seed": seed, "table": numbers(table), **local_fit(explanation, 1, parts)}


def lime_cases():
    cases = [lime_words_case(1, 1, 50, 10, "auto", 25)]
    for seed, words, samples, features, selection, width in [
            (2, 3, 100, 10, "auto", 25), (3, 6, 5000, 10, "auto", 25), (4, 8, 300, 5, "auto", 25),
            (5, 9, 1000, 6, "auto", 10), (6, 9, 700, 7, "auto", 25), (7, 8, 400, 4, "forward_selection", 25),
            (8, 9, 500, 3, "highest_weights", 40), (9, 7, 250, 2, "none", 25)]:
        cases.append(lime_words_case(seed, words, samples, features, selection, width))
    cases += [lime_picture_case(11, 6, 1000, 0.25), lime_picture_case(12, 9, 200, 0.5)]
    return cases


def importance_case(seed, rows, columns, repeats, max_samples):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, columns)), 3)
    weights = np.round(rng.normal(size=columns), 3)
    weights[1] = 0
    y = np.round(x @ weights + 0.5 * x[:, 0] * x[:, 2] + 0.1 * rng.normal(size=rows), 3)

    def score(_, x, y):
        return -np.mean((y - x @ weights) ** 2)

    found = permutation_importance(LinearRegression(), x, y, scoring=score, n_repeats=repeats, random_state=seed,
                                   max_samples=max_samples or rows)
    return {"rows": rows, "columns": columns, "x": numbers(x), "y": numbers(y), "weights": numbers(weights),
            "repeats": repeats, "max_samples": max_samples, "seed": seed,
            "importances": numbers(found.importances), "means": numbers(found.importances_mean),
            "deviations": numbers(found.importances_std)}


def kmeans_case(seed, rows, columns, clusters, missing):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, columns)) + 2 * rng.integers(0, 3, size=(rows, 1)), 3)
    for _ in range(missing):
        x[rng.integers(rows), rng.integers(columns)] = np.nan
    found = shap.kmeans(x, clusters)
    return {"rows": rows, "columns": columns, "clusters": clusters,
            "x": [None if np.isnan(value) else float(value) for value in x.ravel()],
            "centres": numbers(found.data), "weights": numbers(found.weights)}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    write("kernel_fit.json", kernel_cases())
    write("kernel_sine_fit.json", [sine_case(*case) for case in [
        (1, 16, "none", 0), (2, 16, "num_features(10)", 500), (3, 25, "none", 1000), (4, 33, "num_features(10)", 0),
        (5, 40, "aic", 400), (6, 40, "bic", 0), (7, 60, "none", 0)]])
    write("lime_fit.json", lime_cases())
    write("importance_fit.json", [importance_case(*case) for case in [
        (1, 30, 4, 5, 0), (2, 50, 3, 7, 20), (3, 250, 3, 3, 2), (4, 120, 3, 4, 119)]])
    write("kmeans_fit.json", [kmeans_case(*case) for case in [
        (1, 40, 3, 4, 0), (2, 60, 2, 7, 3), (3, 100, 4, 10, 0), (4, 25, 3, 1, 1), (5, 12, 2, 12, 0), (6, 200, 5, 3, 9)]])
