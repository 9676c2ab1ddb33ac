#!/usr/bin/env python3
"""Writes tests/golden/tables/planted: a function whose Shapley values are known, and a model fitted to it.

Made with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0 and

    pip install --no-deps rtdl_revisiting_models==0.0.2
    python scripts/golden/planted_table.py

    f = 1.2 a + 1.5 b c + t[k] + 0.8 max(e, 0)

of the numbers a, b, c, e and the word k; the column g is not used, h is a copy of a with noise. Against a background with
means m, the Shapley values of the game that hides columns by its rows are

    a: 1.2 (a - m_a)                              k: t[k] - mean t
    b: ¾ (b m_c - m_bc + b c - m_b c), c alike    e: 0.8 (max(e, 0) - mean)      g, h: 0

truth.json has the rows as numbers (k as its place), the background, f and these values; model.safetensors is an
FT-Transformer fitted to f on rows drawn anew for every step (R² at least 0.99), table.json its description.
"""

import csv
import json
import pathlib

import numpy as np
import torch
from rtdl_revisiting_models import FTTransformer
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/tables/planted"
COLUMNS = ["a", "b", "c", "e", "g", "h", "k"]
NUMBERS = 6
WORDS, EFFECTS = ["north", "east", "south", "west"], np.array([-1.2, -0.4, 0.5, 1.4])
BACKGROUND, ROWS, STEPS, BATCH = 50, 60, 6000, 512


def draw(generator, count):
    """[rows, columns]; k is a place in WORDS."""
    x = generator.standard_normal((count, 7))
    x[:, 5] = x[:, 0] + 0.5 * x[:, 5]
    x[:, 6] = generator.integers(0, len(WORDS), count)
    return x


def planted(x):
    return 1.2 * x[:, 0] + 1.5 * x[:, 1] * x[:, 2] + EFFECTS[x[:, 6].astype(int)] + 0.8 * np.maximum(x[:, 3], 0)


def shapley(rows, background):
    a, b, c, e = rows[:, :4].T
    mean = background.mean(0)
    product = (background[:, 1] * background[:, 2]).mean()
    values = np.zeros((len(rows), 7))
    values[:, 0] = 1.2 * (a - mean[0])
    # Alone b changes b·E[c] - E[bc]; after c it changes b·c - E[b]·c: half of each, times 1.5.
    values[:, 1] = 0.75 * (b * mean[2] - product + b * c - mean[1] * c)
    values[:, 2] = 0.75 * (c * mean[1] - product + b * c - mean[2] * b)
    values[:, 3] = 0.8 * (np.maximum(e, 0) - np.maximum(background[:, 3], 0).mean())
    values[:, 6] = EFFECTS[rows[:, 6].astype(int)] - EFFECTS[background[:, 6].astype(int)].mean()
    return values


def inputs_of(x):
    return torch.tensor(x[:, :NUMBERS], dtype=torch.float32), torch.tensor(x[:, 6:], dtype=torch.int64)


def fitted(generator):
    torch.manual_seed(0)
    model = FTTransformer(n_cont_features=NUMBERS, cat_cardinalities=[len(WORDS)], d_out=1, n_blocks=2, d_block=16,
                          attention_n_heads=2, attention_dropout=0.0, ffn_d_hidden=None, ffn_d_hidden_multiplier=2.0,
                          ffn_dropout=0.0, residual_dropout=0.0)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=STEPS)
    for step in range(STEPS):
        x = draw(generator, BATCH)
        loss = ((model(*inputs_of(x))[:, 0] - torch.tensor(planted(x), dtype=torch.float32)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 1000 == 0:
            print(step, float(loss), flush=True)
    return model.eval()


def cells_of(x):
    return [[*(f"{number:.9g}" for number in row[:NUMBERS]), WORDS[int(row[6])]] for row in x]


def write_rows(path, x):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *cells_of(x)])


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    # As they are written.
    background, rows = (np.round(draw(generator, count), 6) for count in (BACKGROUND, ROWS))
    model = fitted(generator)
    test = draw(generator, 10_000)
    with torch.no_grad():
        errors = model(*inputs_of(test))[:, 0].numpy() - planted(test)
        outputs = model(*inputs_of(rows[:4]))
    explained = 1 - (errors ** 2).mean() / planted(test).var()
    print(f"R² {explained:.5f}")
    assert explained >= 0.99
    save_file(model.state_dict(), FOLDER / "model.safetensors")
    columns = [{"name": name, "kind": "number", "input": "x_cont", "at": [at]} for at, name in enumerate(COLUMNS[:6])]
    columns.append({"name": "k", "kind": "category", "input": "x_cat", "at": [0], "categories": WORDS})
    (FOLDER / "table.json").write_text(json.dumps({
        "schema": "whyformer.table/1", "model": {"family": "rtdl-revisiting", "heads": 2},
        "task": {"kind": "regression", "output": "value"}, "columns": columns, "background": {"rows": "background.csv"},
        "probe": {"rows": cells_of(rows[:4]), "outputs": [[float(z)] for z in outputs[:, 0]]}}, indent=1) + "\n")
    write_rows(FOLDER / "background.csv", background)
    write_rows(FOLDER / "rows.csv", rows)
    (FOLDER / "truth.json").write_text(json.dumps({
        "columns": COLUMNS, "effects": EFFECTS.tolist(), "background": background.tolist(), "rows": rows.tolist(),
        "values": planted(rows).tolist(), "shapley": shapley(rows, background).tolist()}) + "\n")


if __name__ == "__main__":
    main()
