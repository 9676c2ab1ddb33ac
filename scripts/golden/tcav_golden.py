#!/usr/bin/env python3
"""Writes tests/golden/tcav/expected.json: what scikit-learn, SciPy and Captum say about concept directions.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, captum 0.9.0, scikit-learn 1.9.1, SciPy 1.17.1,
NumPy 2.4.6:

    pip install torch==2.15.0 transformers==5.22.2 captum==0.9.0 scikit-learn==1.9.1 scipy==1.17.1 numpy==2.4.6
    python scripts/golden/tcav_golden.py

* `regressions`: random activations and gradients; coefficients of LogisticRegression, once by its default
  solver and once by newton-cholesky to 1e-12.
* `t_tests`, `false_discovery`, `coins`: p-values of SciPy.
* `captum`: TCAV of the tiny BERT of tests/golden/models on texts of one length, in float64. Captum's own
  classifier is not reproducible, so it is given the exact logistic regression, solved here in the primal.
"""

import json
import pathlib
import tempfile
import warnings

import numpy as np
import scipy.stats
import torch
import transformers
from captum.concept import TCAV, Classifier, Concept
from captum.concept._utils.data_iterator import dataset_to_dataloader
from sklearn.linear_model import LogisticRegression
from torch.utils.data import Dataset

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = 2
TOKENS = 7
SIZES = {"concepts": 12, "random": 14, "targets": 9}


def numbers(array):
    return [float(x) for x in np.asarray(array, dtype=np.float64).ravel()]


def regression(seed, rows, width, shift, strength):
    """Two overlapping clouds, as float32 holds them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width)) + 0.5
    inside = rows // 2 + 1
    x[:inside] += shift * rng.normal(size=width)
    x = x.astype(np.float32).astype(np.float64)
    gradients = rng.normal(size=(10, width)).astype(np.float32).astype(np.float64)
    labels = np.arange(rows) < inside
    usual = LogisticRegression(C=strength, max_iter=1000).fit(x, labels)
    exact = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(x, labels)
    derivative = gradients @ exact.coef_[0]
    return {
        "rows": rows, "width": width, "inside": inside, "strength": strength,
        "activations": numbers(x), "gradients": numbers(gradients),
        "usual": numbers(usual.coef_), "usual_score": float((gradients @ usual.coef_[0] > 0).mean()),
        "exact": numbers(exact.coef_), "intercept": float(exact.intercept_[0]),
        "score": float((derivative > 0).mean()), "magnitude": float(derivative.mean()),
        "unit_magnitude": float(derivative.mean() / np.linalg.norm(exact.coef_)),
    }


def t_tests():
    rng = np.random.default_rng(5)
    cases = []
    for na, nb, shift in [(2, 2, 0.1), (5, 10, 0.0), (10, 45, 0.3), (50, 50, 0.05), (50, 50, 3.0), (3, 500, 1.0)]:
        a, b = rng.normal(size=na) + shift, rng.normal(size=nb)
        test = scipy.stats.ttest_ind(a, b)
        cases.append({"a": numbers(a), "b": numbers(b), "t": float(test.statistic), "p": float(test.pvalue)})
    return cases


class Texts(Dataset):
    def __init__(self, ids):
        self.ids = ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return self.ids[index]


class ExactLogistic(Classifier):
    """The optimum of 1/2 w.w + sum log(1 + exp(-y (w.x + b))), by Newton's method in the primal."""

    def __init__(self):
        pass

    def train_and_eval(self, dataloader, test_split_ratio=0.33, **kwargs):
        batches = list(dataloader)
        x = torch.cat([b[0] for b in batches]).double().numpy()
        y = torch.cat([b[1] for b in batches]).numpy()
        self.known = sorted(set(y.tolist()))
        t = (y == self.known[1]).astype(np.float64)
        rows = np.hstack([x, np.ones((len(x), 1))])
        ridge = np.eye(rows.shape[1])
        ridge[-1, -1] = 0
        w = np.zeros(rows.shape[1])
        for _ in range(50):
            p = 1 / (1 + np.exp(-rows @ w))
            gradient = ridge @ w - rows.T @ (t - p)
            w -= np.linalg.solve(ridge + rows.T @ (rows * (p * (1 - p))[:, None]), gradient)
        assert abs(gradient).max() < 1e-10, abs(gradient).max()
        self.w = torch.from_numpy(w[:-1])
        return {"accs": torch.tensor(1.0)}

    def weights(self):
        return torch.stack([-self.w, self.w])

    def classes(self):
        return self.known


class Logits(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, ids):
        return self.network(input_ids=ids).logits


def captum_case():
    folder = ROOT / "tests/golden/models/bert"
    network = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager").double().eval()
    model = Logits(network)
    generator = torch.Generator().manual_seed(11)
    # The concept: low ids; random: any. Both start and end like texts do.
    def texts(count, low, high):
        ids = torch.randint(low, high, (count, TOKENS), generator=generator)
        ids[:, 0], ids[:, -1] = 2, 3
        return ids
    sets = {"striped": texts(SIZES["concepts"], 5, 25), "dotted": texts(SIZES["concepts"], 30, 50),
            "random": texts(SIZES["random"], 5, 64)}
    targets = texts(SIZES["targets"], 5, 64)
    concepts = {name: Concept(i, name, dataset_to_dataloader(Texts(ids))) for i, (name, ids) in enumerate(sets.items())}
    layers = [f"network.bert.encoder.layer.{i}" for i in range(LAYERS)]
    runs = []
    with tempfile.TemporaryDirectory() as store:
        tcav = TCAV(model, layers, classifier=ExactLogistic(), save_path=store)
        pairs = [("striped", "random"), ("dotted", "random"), ("striped", "dotted")]
        for target in range(2):
            scores = tcav.interpret(targets, [[concepts[a], concepts[b]] for a, b in pairs], target=target)
            for a, b in pairs:
                found = scores[f"{concepts[a].id}-{concepts[b].id}"]
                for layer, name in enumerate(layers):
                    values = found[name]
                    runs.append({"concept": a, "against": b, "layer": layer, "target": target,
                                 "score": float(values["sign_count"][0]), "magnitude": float(values["magnitude"][0])})
    return {"model": "bert", "sets": {name: ids.tolist() for name, ids in sets.items()},
            "targets": targets.tolist(), "runs": runs}


def main():
    warnings.filterwarnings("ignore")
    p = [0.001, 0.02, 0.02, 0.04, 0.3, 0.9, 0.013]
    expected = {
        "regressions": [regression(1, 24, 9, 0.4, 1.0), regression(2, 20, 60, 0.5, 1.0),
                        regression(3, 31, 5, 0.0, 1.0), regression(4, 24, 40, 0.3, 0.05)],
        "t_tests": t_tests(),
        "false_discovery": {"p": p, "adjusted": numbers(scipy.stats.false_discovery_control(p))},
        "coins": [{"hits": h, "tries": n, "p": float(scipy.stats.binom.sf(h - 1, n, 0.5))}
                  for h, n in [(0, 10), (5, 10), (9, 10), (10, 10), (130, 240), (240, 240)]],
        "captum": captum_case(),
    }
    folder = ROOT / "tests/golden/tcav"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
