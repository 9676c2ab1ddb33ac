#!/usr/bin/env python3
"""Train a table model whose reasons are known, and draw rows of which they are sure.

    pip install torch==2.15.0 onnx==1.23.2 numpy
    python scripts/train_planted_table.py --out /tmp/table

Eight independent standard normal columns. The label is the sign of column 1 where column 0, the switch, is positive,
and the sign of column 2 otherwise; columns 3 to 7 are noise. An FT-Transformer (2 layers of width 16, as
scripts/train_wine.py has it) learns it from rows drawn anew for every step. The folder gets
  table.onnx      the model
  background.csv  rows for hidden columns
  rows.csv        rows to explain
  regions.csv     for each of them which columns hold the reason: the switch and the column that it chooses
A row is taken where the model's label changes when either reason changes its sign, and stays, whatever the other
columns are (each redrawn 64 times, alone and together).
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from train_wine import FTTransformer

COLUMNS, NOISE, DRAWS = 8, 5, 64


def labels_of(rows):
    return (torch.where(rows[:, 0] > 0, rows[:, 1], rows[:, 2]) > 0).long()


def train(steps, size, seed):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    model = FTTransformer(torch.zeros(COLUMNS), torch.ones(COLUMNS), outputs=2)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    for step in range(steps):
        rows = torch.randn(size, COLUMNS)
        loss = F.cross_entropy(model(rows), labels_of(rows))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if (step + 1) % 1000 == 0:
            print(f"step {step + 1}: loss {loss.item():.3f}", flush=True)
    return model.eval()


def reasons_of(row):
    """The columns, and those that must not matter."""
    reasons = [0, 1 if row[0] > 0 else 2]
    return reasons, [column for column in range(COLUMNS) if column not in reasons]


@torch.no_grad()
def is_sure(model, row):
    label = model(row[None]).argmax(1)
    reasons, others = reasons_of(row)
    flipped = row.repeat(len(reasons), 1)
    for at, column in enumerate(reasons):
        flipped[at, column] = -row[column]
    redrawn = row.repeat((len(others) + 1) * DRAWS, 1)
    for at, column in enumerate(others):
        redrawn[at * DRAWS:(at + 1) * DRAWS, column] = torch.randn(DRAWS)
    redrawn[len(others) * DRAWS:, others] = torch.randn(DRAWS, len(others))
    return bool((model(flipped).argmax(1) != label).all() and (model(redrawn).argmax(1) == label).all())


def sure_rows(model, count):
    """Columns 1 and 2 of opposite signs: else the switch chooses between equals, and is no reason."""
    found, tried = [], 0
    while len(found) < count:
        tried += 1
        row = torch.randn(COLUMNS)
        if row[1] * row[2] < 0 and is_sure(model, row):
            found.append(row)
    print(f"{count} sure rows among {tried}")
    return torch.stack(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--background", type=int, default=50)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    model = train(arguments.steps, 256, arguments.seed)
    held_out = torch.randn(4000, COLUMNS)
    right = (model(held_out).argmax(1) == labels_of(held_out)).float().mean()
    print(f"right: {right:.1%} of 4000 new rows")
    rows, background = sure_rows(model, arguments.rows), torch.randn(arguments.background, COLUMNS)
    regions = [[int(column in reasons_of(row)[0]) for column in range(COLUMNS)] for row in rows]
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, table in (("rows", rows.numpy()), ("background", background.numpy())):
        np.savetxt(arguments.out / f"{name}.csv", table, delimiter=",", fmt="%.9g")
    np.savetxt(arguments.out / "regions.csv", regions, delimiter=",", fmt="%d")
    torch.onnx.export(model, (rows[:2],), arguments.out / "table.onnx", input_names=["columns"],
                      output_names=["logits"], dynamic_axes={"columns": {0: "batch"}, "logits": {0: "batch"}},
                      dynamo=False, opset_version=17)


if __name__ == "__main__":
    main()
