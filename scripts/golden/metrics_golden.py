#!/usr/bin/env python3
"""Writes tests/golden/metrics.json: metrics of explanations as their reference implementations compute them.

Made with Python 3.11, Quantus 0.6.0, captum 0.7.0, ferret-xai 0.4.2, shap 0.44.1, scikit-learn 1.9.1, SciPy 1.17.1,
NumPy 1.26.4, PyTorch 2.15.0:

    pip install quantus==0.6.0 captum==0.7.0 ferret-xai==0.4.2 shap==0.44.1 scikit-learn==1.9.1 scipy==1.17.1 \
        numpy==1.26.4 torch==2.15.0 pyarrow==17.0.0
    python scripts/golden/metrics_golden.py

A game is a table of answers: bit i of the row's number says whether player i is visible. `value` is a probability,
`output` what the model gives, `keeps` whether the label stays. Everything is computed in float64, but for the float32
layer of Quantus' sensitivity-n, of which no digits are compared. Where a reference leaves the order of ties open, they
are ordered by index. ERASER's scorer is no package: its formulas stand here in plain loops, and the functions of its
rationale_benchmark/metrics.py (jayded/eraserbenchmark, 3ae7641) give the same numbers to the last bit. Definitions that
Quantus does not follow stand here, too (monotonicity, completeness, sensitivity-n, IROF). A region is 1 where the
reason is known to be.
"""

import functools
import json
import pathlib
import types
import warnings

import captum.metrics
import numpy as np
import quantus
import scipy.stats
import shap
import sklearn.metrics
import torch
from ferret.evaluators import faithfulness_measures as ferret
from ferret.explainers.explanation import Explanation
from quantus.helpers.model.pytorch_model import PyTorchModel
from shap.benchmark._sequential import SequentialPerturbation

from metrics_regions import eraser_micro, pixels_of_quantus, region_cases
from score_orders import order_of, without_ties

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/metrics.json"
COLUMNS = ("value", "output")
warnings.filterwarnings("ignore")


class Game:
    def __init__(self, players, value, output, keeps):
        self.players = players
        self.table = np.round(np.stack([value, output], axis=1), 6)
        self.keeps = keeps

    def rows(self, visible):
        visible = np.asarray(visible).reshape(-1, self.players) > 0.5
        return visible @ (1 << np.arange(self.players))

    def answer(self, hidden, column=0):
        visible = np.ones(self.players)
        visible[list(hidden)] = 0
        return self.table[self.rows(visible)[0], column]

    def keeps_label(self, hidden):
        visible = np.ones(self.players)
        visible[list(hidden)] = 0
        return bool(self.keeps[self.rows(visible)[0]])


class TableModel(torch.nn.Module):
    """The game as Quantus and captum call it: inputs are 1 where a player is visible."""

    def __init__(self, game):
        super().__init__()
        self.game = game

    def forward(self, x):
        return torch.from_numpy(self.game.table[self.game.rows(x.detach().numpy())])


def games(rng):
    for players in (4, 5, 6, 7, 8):
        size = 1 << players
        visible = (np.arange(size)[:, None] >> np.arange(players)) & 1
        value, output = rng.random(size), 3 * rng.normal(size=size)
        if players == 5:  # adds up, and never falls
            output = visible @ np.array([0.5, 1.25, 0.75, 2, 0.25])
            value = 1 / (1 + np.exp(1 - output))
        if players == 6:  # player 2 changes nothing
            same = np.arange(size) & ~4
            value, output = value[same], output[same]
        if players == 7:  # small answers
            value, output = 1e-6 * value, 1e-6 * output
        keeps = rng.random(size) < 0.6
        keeps[-1] = True
        game = Game(players, value, output, keeps)
        if players == 7:
            game.table = np.stack([value, output], axis=1).round(12)
        yield game


def score_cases(rng, players):
    yield "random", np.round(rng.normal(size=players), 4)
    yield "ties", np.round(rng.integers(-1, 3, players) / 2, 4) + 0.25 * (np.arange(players) == 1)
    zeros = np.round(rng.normal(size=players), 4)
    zeros[2:4] = 0
    yield "zeros", zeros
    yield "negative", -np.round(rng.random(players) + 0.1, 4)
    tiny = np.round(rng.random(players), 4)
    tiny[1] = 1e-7
    yield "one nearly zero", tiny


def eraser_sizes(players):
    return [max(1, round(share * players)) for share in (0.01, 0.05, 0.1, 0.2, 0.5)]


def eraser(game, scores):
    """metrics.py, compute_aopc_scores: the mean over thresholds of the drop of the predicted class."""
    order, drops = order_of(scores), {"comprehensiveness": [], "sufficiency": []}
    for size in eraser_sizes(game.players):
        drops["comprehensiveness"].append(game.answer([]) - game.answer(order[:size]))
        drops["sufficiency"].append(game.answer([]) - game.answer(order[size:]))
    return {name: np.average(points) for name, points in drops.items()}


class FerretHelper:
    """A text is the numbers of its visible players; the first and the last token stand for [CLS] and [SEP]."""

    def __init__(self, game):
        self.game = game
        self.tokenizer = types.SimpleNamespace(decode=lambda ids: " ".join(map(str, ids)), cls_token="")

    def _tokenize(self, text):
        ids = torch.tensor([[-1, *map(int, text.split()), -1]])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def _forward(self, texts, output_hidden_states=False):
        rows = [sum(1 << int(i) for i in text.split()) for text in ([texts] if isinstance(texts, str) else texts)]
        p = torch.from_numpy(self.game.table[rows, 0])
        return None, torch.stack([p.log(), (1 - p).log()], dim=1)


def ferret_aopc(game, scores, sizes):
    """Differs from ERASER in two ways: a group that repeats counts once, and ties go by the highest index. Scores are
    shifted above 0, because its only_pos=False fails with this NumPy; the order is the same."""
    results, scores = {}, scores - scores.min() + 1
    for evaluator in (ferret.AOPC_Comprehensiveness_Evaluation, ferret.AOPC_Sufficiency_Evaluation):
        one = evaluator.__new__(evaluator)
        one.helper = FerretHelper(game)
        text = " ".join(map(str, range(game.players)))
        explanation = Explanation(text=text, tokens=["?"], scores=scores, explainer="", target=0)
        arguments = {"removal_args": {"remove_tokens": True, "based_on": "k", "thresholds": sizes}}
        results[one.NAME.removeprefix("aopc_")] = one.compute_evaluation(explanation, target=0, **arguments).score
    return results


def rise(game, scores):
    order, results = order_of(scores), {}
    for name, hidden in (("deletion", lambda k: order[:k]), ("insertion", lambda k: order[k:])):
        curve = np.array([game.answer(hidden(k)) for k in range(game.players + 1)])
        results[name] = (curve.sum() - curve[0] / 2 - curve[-1] / 2) / (len(curve) - 1)
    return results


def chefer(game, scores):
    steps, results = np.arange(10) / 10, {}
    for name, order in (("positive-perturbation", order_of(scores)), ("negative-perturbation", order_of(-scores))):
        correct = [game.keeps_label(order[: int(game.players * step)]) for step in steps]
        results[name] = sklearn.metrics.auc(steps, np.array(correct, dtype=float))
    return results


class Masks(shap.maskers.Masker):
    """Gives the mask itself to the model."""

    def __init__(self, players):
        self.shape, self.clustering = (1, players), None

    def __call__(self, mask, row):
        return (np.asarray(mask, dtype=float)[None, :],)


SHAP_ORDERS = {"positive": lambda x: np.argsort(-x, kind="stable"), "negative": lambda x: np.argsort(x, kind="stable"),
               "absolute": lambda x: np.argsort(-abs(x), kind="stable")}


def shap_benchmark(answers, scores):
    """`answers` of rows that are 1 where a player is visible."""
    results, players = {}, len(scores)
    for name in ("keep", "remove"):
        for order, by_index in SHAP_ORDERS.items():
            bench = SequentialPerturbation(answers, Masks(players), order, name)
            bench.sort_order_map = by_index
            _, _, areas = bench("", scores[None, :], np.ones((1, players)), debug_mode=True, silent=True)
            results[f"{name}-{order}"] = areas[0]
    return results


def samek(game, scores):
    """IEEE TNNLS 2017, eq. 12: the mean over k = 0 … L of f(x) - f(x without the first k regions)."""
    order = order_of(scores)
    drops = [game.answer([]) - game.answer(order[:k]) for k in range(min(100, game.players) + 1)]
    return {"region-perturbation": np.mean(drops)}


def hide_players(arr, indices, **_):
    hidden = arr.copy()
    hidden[:, indices] = 0
    return hidden


def quantus_region_perturbation(game, scores):
    """Its drops after each region, as an AOPC: the drop of 0 before the first is not in its list. A region is a pixel,
    in a picture of one row."""
    metric = quantus.RegionPerturbation(patch_size=1, regions_evaluation=100, perturb_baseline=0.0,
                                        disable_warnings=True)
    model = PyTorchModel(TableModel(game).eval(), channel_first=True, softmax=False)
    drops = metric.evaluate_batch(model=model, x_batch=np.ones((1, 1, 1, game.players)), y_batch=np.array([0]),
                                  a_batch=without_ties(scores)[None, None, None, :])[0]
    return drops.sum() / (len(drops) + 1)


def irof(game, scores):
    order = order_of(scores)
    left = [game.answer(order[:k]) / game.answer([]) for k in range(1, game.players + 1)]
    # Quantus: the trapezoids of L numbers have the width L - 1, but are taken from L.
    return {"irof": np.mean([1 - one for one in left]), "quantus": len(left) - quantus.calculate_auc(np.array(left))}


class LabelModel(torch.nn.Module):
    """Column 0 is the highest where the label stays."""

    def __init__(self, game):
        super().__init__()
        self.game = game

    def forward(self, x):
        keeps = torch.from_numpy(self.game.keeps[self.game.rows(x.detach().numpy())].astype(float))
        return torch.stack([keeps, torch.full_like(keeps, 0.5)], dim=1)


def road(game, scores):
    """Quantus' ROAD with players in place of pixels; it has MoRF alone, so LeRF is that of the mirrored scores."""
    results = {}
    for name, ranked in (("road-morf", without_ties(scores)), ("road-lerf", without_ties(-scores))):
        metric = quantus.ROAD(percentages=list(range(1, 100, 2)), perturb_func=hide_players, disable_warnings=True)
        metric.a_size = game.players
        model = PyTorchModel(LabelModel(game).eval(), channel_first=True, softmax=False)
        kept = metric.evaluate_batch(model=model, x_batch=np.ones((1, 1, game.players)), y_batch=np.array([0]),
                                     a_batch=ranked[None, None, :])
        results[name] = np.mean(kept)
    return {**results, "road": results["road-lerf"] - results["road-morf"]}


def quantus_value(metric, game, scores, column=0):
    """What the metric does to one explanation, prepared as its __call__ prepares it; that refuses negative scores."""
    attribution = quantus.normalise_by_max(scores[None, None, :].copy())
    model = PyTorchModel(TableModel(game).eval(), channel_first=True, softmax=False)
    return metric.evaluate_batch(model=model, x_batch=np.ones((1, 1, game.players)), y_batch=np.array([column]),
                                 a_batch=np.abs(attribution) if metric.abs else attribution)[0]


def quantus_metrics():
    options = {"perturb_baseline": 0.0, "disable_warnings": True}
    return {"faithfulness-estimate": quantus.FaithfulnessEstimate(**options),
            "monotonicity-correlation": quantus.MonotonicityCorrelation(nr_samples=1, **options),
            "non-sensitivity": quantus.NonSensitivity(**options),
            "monotonicity": quantus.Monotonicity(**options),
            "completeness": quantus.Completeness(**options)}


def definitions(game, scores, column):
    """What Quantus does not follow, and what it changes by a small number."""
    order = list(np.argsort(np.abs(scores), kind="stable"))
    shown = [game.answer(order[k:]) for k in range(game.players + 1)]
    sizes = np.abs(scores)
    pairs = sum(abs(a - b) for a in sizes for b in sizes)
    return {"monotonicity": float(all(a <= b for a, b in zip(shown, shown[1:]))),
            "completeness": abs(sum(scores) - (game.answer([], column) - game.answer(range(game.players), column))),
            "complexity": scipy.stats.entropy(sizes),
            "sparseness": pairs / (2 * len(sizes) * sizes.sum())}


def case(game, name, scores):
    by_answer = {}
    for column, what in enumerate(COLUMNS):
        quantus_says = {key: float(quantus_value(metric, game, scores, column))
                        for key, metric in quantus_metrics().items()}
        by_answer[what] = {"quantus": quantus_says, "definition": definitions(game, scores, column)}
    alone = {"complexity": quantus.Complexity(disable_warnings=True),
             "sparseness": quantus.Sparseness(disable_warnings=True),
             "effective-complexity": quantus.EffectiveComplexity(disable_warnings=True)}
    sizes = list(range(1, game.players))
    result = {"name": name, "scores": scores.tolist(), "eraser": eraser(game, scores), "rise": rise(game, scores),
              "chefer": chefer(game, scores), "samek": samek(game, scores), "irof": irof(game, scores),
              "road": road(game, scores), "quantus_region_perturbation": quantus_region_perturbation(game, scores),
              "shap": shap_benchmark(lambda rows: game.table[game.rows(rows), 0], scores),
              "quantus_of_scores": {key: float(quantus_value(metric, game, scores)) for key, metric in alone.items()},
              **by_answer}
    if len(set(scores)) == len(scores):
        result["ferret"] = {"sizes": sizes, "of_sizes": ferret_aopc(game, scores, sizes),
                            "of_eraser_sizes": ferret_aopc(game, scores, eraser_sizes(game.players))}
    return result


def subsets_of(rng, players, count):
    return [sorted(rng.choice(players, rng.integers(1, players + 1), replace=False).tolist()) for _ in range(count)]


def captum_infidelity(game, scores, subsets, column):
    hidden = torch.zeros(len(subsets), game.players, dtype=torch.float64)
    for row, subset in enumerate(subsets):
        hidden[row, subset] = 1
    shared = {"forward_func": lambda x: TableModel(game)(x)[:, column], "perturb_func": lambda x: (hidden, x - hidden),
              "inputs": torch.ones(1, game.players, dtype=torch.float64),
              "attributions": torch.from_numpy(scores)[None, :], "n_perturb_samples": len(subsets)}
    return {"infidelity": captum.metrics.infidelity(**shared).item(),
            "infidelity-scaled": captum.metrics.infidelity(normalize=True, **shared).item()}


def quantus_faithfulness_correlation(game, scores, subsets, column):
    draws = iter(subsets)
    metric = quantus.FaithfulnessCorrelation(nr_runs=len(subsets), subset_size=len(subsets[0]), perturb_baseline=0.0,
                                             disable_warnings=True)
    own, np.random.choice = np.random.choice, lambda *_, **__: np.array(next(draws))
    try:
        return float(quantus_value(metric, game, scores, column))
    finally:
        np.random.choice = own


def subset_cases(rng, all_games):
    for number, game in enumerate(all_games):
        scores = np.round(rng.normal(size=game.players), 4)
        subsets = subsets_of(rng, game.players, 12)
        equal = [sorted(rng.choice(game.players, 2, replace=False).tolist()) for _ in range(12)]
        for column, what in enumerate(COLUMNS):
            yield {"game": number, "answer": what, "scores": scores.tolist(), "subsets": subsets, "pairs": equal,
                   **captum_infidelity(game, scores, subsets, column),
                   "correlation": quantus_faithfulness_correlation(game, scores, equal, column)}


def noise_cases(rng):
    """Gradient x input of a small network, for the input and for noisy copies."""
    for inputs in (3, 5):
        first, last = torch.from_numpy(rng.normal(size=(inputs, 4))), torch.from_numpy(rng.normal(size=4))
        x = torch.from_numpy(rng.normal(size=(1, inputs)))
        noise = torch.from_numpy(rng.uniform(-0.02, 0.02, size=(6, inputs)))

        def explain(inputs, **_):
            with torch.enable_grad():
                at = (inputs[0] if isinstance(inputs, tuple) else inputs).detach().requires_grad_()
                (torch.tanh(at @ first) @ last).sum().backward()
            return ((at.grad * at).detach(),)

        sensitivity = captum.metrics.sensitivity_max(explain, x, perturb_func=lambda at: at + noise,
                                                     n_perturb_samples=6)
        own, noisy = explain(x)[0][0].numpy(), explain(x + noise)[0].numpy()
        lipschitz = functools.partial(quantus.lipschitz_constant, norm_numerator=quantus.distance_euclidean)
        yield {"scores": own.tolist(), "noisy": noisy.tolist(), "distances": noise.norm(dim=1).tolist(),
               "max-sensitivity": sensitivity.item(),
               "lipschitz": [lipschitz(own, one, x[0].numpy(), (x[0] + e).numpy()) for one, e in zip(noisy, noise)]}


def additive_sensitivity_n(rng):
    """Exact attributions of a sum. Sensitivity-n is 1 for every n; Quantus compares the drop of all players so far with
    the attribution of the last one, over a batch of inputs."""
    inputs, weights = np.round(rng.normal(size=(8, 1, 6)), 3), np.round(rng.normal(size=6), 3)
    layer = torch.nn.Linear(6, 2, bias=False, dtype=torch.float32)
    layer.weight.data = torch.tensor(np.stack([weights, -weights]), dtype=torch.float32)
    metric = quantus.SensitivityN(features_in_step=1, n_max_percentage=1.0, perturb_baseline=0.0, normalise=False,
                                  disable_warnings=True, return_aggregate=False)
    found = metric(model=torch.nn.Sequential(torch.nn.Flatten(), layer).eval(), x_batch=inputs,
                   y_batch=np.zeros(8, dtype=int), a_batch=inputs * weights, channel_first=True, softmax=False)
    return {"attributions": (inputs * weights)[:, 0].tolist(), "quantus": [float(one) for one in found]}


def many_units(rng):
    """shap's steps are 1 % of the players, which is more than one from 200 players on."""
    weights, scores = np.round(rng.normal(size=230), 3), np.round(rng.normal(size=230), 3)
    areas = shap_benchmark(lambda rows: 1 / (1 + np.exp(-rows.astype(float) @ weights / 8)), scores)
    return {"weights": weights.tolist(), "scores": scores.tolist(), "areas": areas}


def imputations(rng):
    """Quantus' noisy linear imputation without the noise."""
    for height, width, share in ((1, 5, 0.5), (4, 3, 0.5), (6, 7, 0.3), (6, 7, 0.8), (9, 9, 0.95)):
        pixels = np.round(rng.normal(size=(2, height, width)), 3)
        hidden = rng.random(height * width) < share
        hidden[rng.integers(height * width)] = False
        hidden[(np.flatnonzero(~hidden)[0] + 1) % hidden.size] = True
        filled = quantus.noisy_linear_imputation(pixels, np.flatnonzero(hidden), noise=0.0)
        yield {"shape": [2, height, width], "pixels": pixels.ravel().tolist(), "hidden": hidden.astype(int).tolist(),
               "filled": filled.ravel().tolist()}


def main():
    rng, all_games, texts = np.random.default_rng(21), [], []
    for game in games(rng):
        all_games.append(game)
        cases = [case(game, name, scores) for name, scores in score_cases(rng, game.players)]
        head = {"players": game.players, "value": game.table[:, 0].tolist(), "output": game.table[:, 1].tolist(),
                "keeps": game.keeps.astype(int).tolist()}
        texts.append(json.dumps(head)[:-1] + ', "cases": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]}")
    groups = {"games": texts, "subsets": map(json.dumps, subset_cases(rng, all_games)),
              "noise": map(json.dumps, noise_cases(rng))}
    own = np.random.default_rng(22)
    regions = list(region_cases(own))
    groups["regions"] = map(json.dumps, regions)
    groups["imputations"] = map(json.dumps, imputations(own))
    parts = [f'"{name}": [\n' + ",\n".join(lines) + "\n]" for name, lines in groups.items()]
    parts.append('"many_units": ' + json.dumps(many_units(own)))
    parts.append('"iou_f1_of_all": ' + json.dumps(eraser_micro(regions)))
    parts.append('"top_k_of_pixels": ' + json.dumps(pixels_of_quantus()))
    parts.append('"sensitivity_n": ' + json.dumps(additive_sensitivity_n(rng)))
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
