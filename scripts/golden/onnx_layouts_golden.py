#!/usr/bin/env python3
"""Writes tests/golden/onnx/layouts: one transformer with the same weights in every file, which differ in where the batch is
and in how attention is spelled, and what PyTorch's gradient of one of its answers is.

Made with Python 3.11, torch 2.15.0, onnx 1.23.2, onnxscript 0.7.2, numpy 2.4.6:

    pip install torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy==2.4.6
    python scripts/golden/onnx_layouts_golden.py

batch-first [batch, tokens, numbers]; tokens-first [tokens, batch, numbers], with fused and with plain attention; alone
[tokens, numbers]; and the same with ids. Each file holds, as initialisers, what it is `given`, the `expected` output and, for
numbers, the `gradient` of the sum of the second answer over all inputs.
"""

import pathlib
import tempfile
import warnings

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from onnx_models_golden import without_notes

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/onnx/layouts"
BATCH, TOKENS, NUMBERS, WIDTH, HEADS, VOCABULARY = 3, 5, 4, 16, 4, 12


class Block(nn.Module):
    """Keeps tokens in front of the batch, or in front of nothing."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS)
        self.inner, self.outer = nn.Linear(WIDTH, 24), nn.Linear(24, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(2)])

    def forward(self, x, plain):
        x = self.norms[0](x + self.attention(x, x, x, need_weights=plain)[0])
        return self.norms[1](x + self.outer(torch.relu(self.inner(x))))


class Encoder(nn.Module):
    """A learned token in front of the others, positions, two blocks, and what the first token or each of them answers."""

    def __init__(self):
        super().__init__()
        self.project, self.table = nn.Linear(NUMBERS, WIDTH), nn.Embedding(VOCABULARY, WIDTH)
        self.start, self.positions = nn.Parameter(torch.randn(1, 1, WIDTH)), nn.Parameter(torch.randn(TOKENS + 1, 1, WIDTH))
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(WIDTH, 3)
        self.layout, self.ids, self.plain, self.each = "batch", False, False, False

    def forward(self, given):
        x = self.table(given) if self.ids else self.project(given)
        start, positions = self.start, self.positions
        if self.layout == "alone":
            start, positions = start[:, 0], positions[:, 0]
        else:
            x = x.transpose(0, 1) if self.layout == "batch" else x
            start = start.expand(1, x.shape[1], WIDTH)
        x = torch.cat([start, x], 0)
        x = x + positions[: x.shape[0]]
        for block in self.blocks:
            x = block(x, self.plain)
        return self.head(x if self.each else x[0])


# Name: layout, whether ids are given, whether attention is plain, whether each token answers, exporter, opset.
FILES = {
    "batch-first": ("batch", False, False, False, "legacy", 17),
    "batch-first-ids": ("batch", True, False, False, "new", 20),
    "tokens-first": ("tokens", False, False, False, "legacy", 14),
    "tokens-first-plain": ("tokens", False, True, True, "legacy", 17),
    "tokens-first-new": ("tokens", False, True, False, "new", 18),
    "tokens-first-ids": ("tokens", True, False, True, "new", 20),
    "alone": ("alone", False, False, False, "legacy", 17),
    "alone-new": ("alone", False, True, True, "new", 20),
}


def given_to(layout, ids):
    """The same inputs for all; the first of them alone."""
    random = torch.Generator().manual_seed(1)
    batch = torch.randn(BATCH, TOKENS, NUMBERS, generator=random)
    if ids:
        batch = torch.randint(0, VOCABULARY, (BATCH, TOKENS), generator=random)
    if layout == "alone":
        return batch[0]
    return batch if layout == "batch" else batch.transpose(0, 1).contiguous()


def write(encoder, name):
    encoder.layout, encoder.ids, encoder.plain, encoder.each, exporter, opset = FILES[name]
    given, name_of_input = given_to(encoder.layout, encoder.ids), "input_ids" if encoder.ids else "numbers"
    common = dict(input_names=[name_of_input], output_names=["output"], opset_version=opset)
    batch_axis = {"batch": 0, "tokens": 1}.get(encoder.layout)
    # Attention that is spelled out has the number of inputs written into it; texts may have any length.
    moves = batch_axis is not None and not encoder.plain
    open_axes = ([batch_axis] if moves else []) + ([1 - batch_axis] if encoder.ids else [])
    with tempfile.NamedTemporaryFile(suffix=".onnx") as exported, torch.no_grad():
        if exporter == "legacy":
            axes = {name_of_input: {axis: f"axis{axis}" for axis in open_axes}}
            torch.onnx.export(encoder, (given,), exported.name, dynamo=False, dynamic_axes=axes, **common)
        else:
            shapes = ({axis: torch.export.Dim.DYNAMIC for axis in open_axes},)
            torch.onnx.export(encoder, (given,), exported.name, dynamo=True, external_data=False, verbose=False,
                              dynamic_shapes=shapes, **common)
        model = onnx.load(exported.name)
    without_notes(model)
    stored = {"given": given.numpy(), "expected": encoder(given).detach().numpy()}
    if not encoder.ids:
        at = given.double().requires_grad_()
        encoder.double()(at)[..., 1].sum().backward()
        encoder.float()
        stored["gradient"] = at.grad.float().numpy()
    for key, array in stored.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), key))
    path = FOLDER / f"{name}.onnx"
    onnx.save(model, path)
    print(f"{name}: {path.stat().st_size / 1000:.0f} KB")


def main():
    warnings.filterwarnings("ignore")
    torch.backends.mha.set_fastpath_enabled(False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    encoder = Encoder().eval()
    with torch.no_grad():  # random weights are too small to tell anything from nothing
        for parameter in encoder.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.4)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    for name in FILES:
        write(encoder, name)


if __name__ == "__main__":
    main()
