#!/usr/bin/env python3
"""Writes tests/golden/games/*.json: what shap's explainers say about games given as tables.

Made with Python 3.11, shap 0.51.0, NumPy 2.4.6, SciPy 1.17.1:

    pip install shap==0.51.0 numpy==2.4.6 scipy==1.17.1
    python scripts/golden/games_golden.py

A game's table comes from numpy.random.RandomState(table_seed).random_sample, by background, then coalition (bit i
of its number: the i-th varying player is visible), then output; `levels` > 0 rounds it down to so many whole
numbers, which makes ties. The last coalition, everything visible, is the same for all backgrounds.
Trees are lists of merges as in SciPy's linkage matrices.
"""

import json
import pathlib
import warnings

import numpy as np
import shap

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTEXTS = {"both": None, "hidden": 0, "visible": 1}


class TableGame:
    def __init__(self, players, outputs, seed, levels=0, still=(), backgrounds=1):
        self.description = {"players": players, "outputs": outputs, "table_seed": seed, "levels": levels,
                            "still": list(still), "backgrounds": backgrounds}
        self.players, self.still, self.backgrounds = players, set(still), backgrounds
        self.varying = [i for i in range(players) if i not in self.still]
        size = 2 ** len(self.varying)
        table = np.random.RandomState(seed).random_sample((backgrounds, size, outputs))
        if levels:
            table = np.floor(table * levels)
        table[1:, -1] = table[0, -1]
        self.table = table

    def of_masks(self, masks):
        """The model of the maskers: rows are masks."""
        rows = np.asarray(masks, dtype=bool).reshape(-1, self.players)[:, self.varying]
        return self.table.mean(0)[rows @ (1 << np.arange(len(self.varying)))]

    def instance(self):
        return np.array([[7.0 if i in self.still else -1.0 for i in range(self.players)]])

    def data(self):
        """Hidden players show the number of their background."""
        return np.array([[7.0 if i in self.still else float(b) for i in range(self.players)]
                         for b in range(self.backgrounds)])

    def of_rows(self, rows):
        """The model of a table with several background rows."""
        rows = np.asarray(rows)[:, self.varying]
        visible = rows < 0
        background = np.maximum(rows.max(1), 0).astype(int)
        return self.table[background, visible @ (1 << np.arange(len(self.varying)))]


class TableMasker(shap.maskers.Masker):
    """Shows the mask itself to the model."""

    def __init__(self, game, tree=None):
        self.shape = (1, game.players)
        self.game = game
        self.clustering = tree

    def __call__(self, mask, x):
        return (np.asarray(mask, dtype=float).reshape(1, -1),)

    def invariants(self, x):
        return np.array([[i in self.game.still for i in range(self.game.players)]])


def random_tree(players, seed):
    rng = np.random.RandomState(seed)
    alive, sizes, merges = list(range(players)), {i: 1 for i in range(players)}, []
    for step in range(players - 1):
        left, right = (alive.pop(rng.randint(len(alive))) for _ in range(2))
        node = players + step
        sizes[node] = sizes[left] + sizes[right]
        merges.append([left, right, 1.0, sizes[node]])
        alive.append(node)
    return np.array(merges).reshape(-1, 4)


def numbers(array):
    return [float(x) for x in np.asarray(array, dtype=np.float64).ravel()]


def common(game, explanation):
    values = explanation.values[0]
    return {"game": game.description, "base": numbers(explanation.base_values[0]), "values": numbers(values)}


def merges_of(tree):
    return [[int(row[0]), int(row[1])] for row in tree]


def partition_case(game, tree, context, max_evals, seed, batch_size):
    explainer = shap.explainers.Partition(game.of_masks, TableMasker(game, tree))
    np.random.seed(seed)
    explanation = explainer(np.ones((1, game.players)), fixed_context=CONTEXTS[context], max_evals=max_evals,
                            batch_size=batch_size, silent=True)
    return common(game, explanation) | {
        "tree": merges_of(tree), "context": context, "max_evals": max_evals, "seed": seed, "batch_size": batch_size,
        "hierarchical": numbers(explainer.dvalues), "evaluations": explainer.last_eval_count + 2}


def partition_cases():
    cases = []
    for players in range(2, 11):
        for context in CONTEXTS:
            game = TableGame(players, 1 + players % 3, seed=100 + players, levels=3 * (players % 2))
            tree = random_tree(players, 200 + players)
            for budget in (2, 7, 12, 16, 25, 10**6):
                if budget == 25 and players < 5:
                    continue
                cases.append(partition_case(game, tree, context, budget, seed=budget + players, batch_size=10))
    for seed in range(12):  # many ties
        game = TableGame(8, 2, seed=300 + seed, levels=2, still=(3,) if seed % 2 else ())
        tree = random_tree(8, 400 + seed)
        context = list(CONTEXTS)[seed % 3]
        cases.append(partition_case(game, tree, context, 9 + seed % 6, seed, batch_size=(1, 5, 6, 10)[seed % 4]))
    return cases


def exact_cases():
    cases = []
    for players in range(1, 11):
        game = TableGame(players, 1 + players % 3, seed=500 + players, still=(1, 4) if players > 5 else ())
        explainer = shap.explainers.Exact(game.of_masks, TableMasker(game))
        cases.append(common(game, explainer(np.ones((1, players)), silent=True)))
        if players > 1:
            tree = random_tree(players, 600 + players)
            explainer = shap.explainers.Exact(game.of_masks, TableMasker(game, tree))
            explanation = explainer(np.ones((1, players)), silent=True)
            cases.append(common(game, explanation) | {"tree": merges_of(tree)})
    return cases


def interaction_cases():
    """One output and no still players: with others the package is wrong."""
    cases = []
    for players in range(2, 8):
        game = TableGame(players, 1, seed=700 + players)
        explainer = shap.explainers.Exact(lambda masks, game=game: game.of_masks(masks)[:, 0], TableMasker(game))
        explanation = explainer(np.ones((1, players)), interactions=2, silent=True)
        cases.append(common(game, explanation))
    return cases


def permutation_cases():
    cases = []
    for players in range(1, 11):
        for seed, max_evals in ((players, 2 * players + 1), (3, 100), (50 + players, 500)):
            game = TableGame(players, 1 + players % 3, seed=800 + players, still=(0, 2) if players % 4 == 3 else ())
            explainer = shap.explainers.Permutation(game.of_masks, TableMasker(game), seed=seed)
            explanation = explainer(np.ones((1, players)), max_evals=max_evals, silent=True)
            cases.append(common(game, explanation) | {"max_evals": max_evals, "seed": seed})
    return cases


def sampling_case(game, samples, seed):
    explainer = shap.explainers.Sampling(game.of_rows, game.data())
    np.random.seed(seed)
    values = explainer.shap_values(game.instance(), nsamples=samples or "auto", silent=True)
    return {"game": game.description, "base": numbers(explainer.expected_value), "values": numbers(values),
            "samples": samples, "seed": seed}


def sampling_cases():
    cases = []
    for players in range(1, 8):
        for outputs, backgrounds in ((1, 1), (2, 4), (3, 7)):
            still = (0,) if players > 1 and outputs == 2 else ()
            game = TableGame(players, outputs, seed=900 + 10 * players + outputs, still=still, backgrounds=backgrounds)
            for samples in (2 * players, 5 * players + 3, 130 * players + 1, 171 * players, 0):
                if samples or players < 4:
                    cases.append(sampling_case(game, samples, seed=players + samples))
    for seed in range(6):  # with small later shares, where one player may owe samples
        game = TableGame(6, 1, seed=990 + seed, levels=2, backgrounds=2)
        cases.append(sampling_case(game, 603 + 2 * seed, seed))
    return cases


def main():
    warnings.simplefilter("ignore")
    for name, cases in (("exact", exact_cases()), ("interactions", interaction_cases()),
                        ("partition", partition_cases()), ("permutation", permutation_cases()),
                        ("sampling", sampling_cases())):
        for case in cases:
            assert np.isfinite(case["values"]).all(), case
        lines = ",\n".join(json.dumps(case) for case in cases)
        (ROOT / "tests/golden/games" / f"{name}.json").write_text(f"[\n{lines}\n]\n")
        print(name, len(cases))


if __name__ == "__main__":
    main()
