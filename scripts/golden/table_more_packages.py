"""Cases of table_models_golden.py: TabSurvey's TabTransformer, pytorch_frame's, and lit-saint."""

import importlib
import sys

import torch
import torch.nn.functional

from table_cases import ROWS, Case, columns_of, without_package
from table_saint import SaintAttention, SaintForward


class SurveyStep(torch.nn.Module):
    """x + f(norm x), as Residual(PreNorm(f)): the names have one "fn." more than the package's."""

    def __init__(self, width, f):
        super().__init__()
        self.fn = torch.nn.Module()
        self.fn.norm, self.fn.fn = torch.nn.LayerNorm(width), f

    def forward(self, x):
        return x + self.fn.fn(self.fn.norm(x))


class SurveyTabTransformer(torch.nn.Module):
    def __init__(self, numbers, counts, heads, head_width, width=8):
        super().__init__()
        self.register_buffer("categories_offset", torch.tensor([2, *counts[:-1]]).cumsum(0))
        self.norm = torch.nn.LayerNorm(numbers)
        self.transformer = torch.nn.Module()
        self.transformer.embeds = torch.nn.Embedding(sum(counts) + 2, width)
        self.transformer.layers = torch.nn.ModuleList(
            torch.nn.ModuleList([SurveyStep(width, SaintAttention(width, heads, head_width)),
                                 SurveyStep(width, SaintForward(width))]) for _ in range(2))
        size = width * len(counts) + numbers
        self.mlp = torch.nn.Module()
        self.mlp.mlp = torch.nn.Sequential(torch.nn.Linear(size, 6), torch.nn.ReLU(),
                                           torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))

    def forward(self, x_cont, x_cat):
        x = self.transformer.embeds(x_cat + self.categories_offset)
        for attention, forward in self.transformer.layers:
            x = forward(attention(x))
        return self.mlp.mlp(torch.cat([x.flatten(1), self.norm(x_cont)], 1))


def tab_survey():
    numbers, counts = columns_of("mixed")
    module = SurveyTabTransformer(numbers, counts, 2, 16)
    yield Case("lucid-tab.survey", module, 2, module, numbers, counts, seed=52)


def pytorch_frame_tab():
    """The package's blocks; its encoders of columns by their formulas."""
    for name in ["torch_frame", "torch_frame.nn", "torch_frame.nn.conv"]:
        without_package(name)
    base = importlib.import_module("torch_frame.nn.conv.table_conv")
    sys.modules["torch_frame.nn.conv"].TableConv = base.TableConv
    conv = importlib.import_module("torch_frame.nn.conv.tab_transformer_conv").TabTransformerConv

    class Model(torch.nn.Module):
        def __init__(self, numbers, counts, heads):
            super().__init__()
            self.cat_encoder = torch.nn.Module()
            self.cat_encoder.emb = torch.nn.Embedding(sum(counts) + 1, 6)
            self.cat_encoder.register_buffer("offset", torch.tensor([0, *counts[:-1]]).cumsum(0))
            self.pad_embedding = torch.nn.Embedding(len(counts), 2)
            self.tab_transformer_convs = torch.nn.ModuleList(conv(8, heads) for _ in range(2))
            size = 8 * len(counts) + numbers
            if numbers:
                self.num_encoder = torch.nn.Module()
                self.num_encoder.register_buffer("mean", torch.empty(numbers))
                self.num_encoder.register_buffer("std", torch.empty(numbers))
                self.num_norm = torch.nn.LayerNorm(numbers)
            self.decoder = torch.nn.Sequential(
                torch.nn.Linear(size, 6), torch.nn.BatchNorm1d(6), torch.nn.SELU(), torch.nn.Linear(6, 8),
                torch.nn.BatchNorm1d(8), torch.nn.SELU(), torch.nn.Linear(8, 2))

        def forward(self, x_cont, x_cat):
            x = self.cat_encoder.emb(x_cat + self.cat_encoder.offset + 1)
            x = torch.cat([x, self.pad_embedding.weight.expand(len(x), -1, -1)], 2)
            for block in self.tab_transformer_convs:
                x = block(x)
            x = x.flatten(1)
            if x_cont is not None:
                scaled = (x_cont - self.num_encoder.mean) / self.num_encoder.std
                x = torch.cat([x, self.num_norm(scaled)], 1)
            return self.decoder(x)

    for kind, heads in [("mixed", 2), ("categories", 4)]:
        numbers, counts = columns_of(kind)
        module = Model(numbers, counts, heads)
        yield Case(f"pyf-tab.{kind}", module, heads, module, numbers, counts, seed=82, narrow=True)


def lit_saint():
    """The package's modules, put together as its Saint does."""
    without_package("lit_saint")
    parts = importlib.import_module("lit_saint.modules")

    class Model(torch.nn.Module):
        def __init__(self, numbers, counts, style, heads, head_width, width=4):
            super().__init__()
            self.register_buffer("offset", torch.tensor([0, *counts[:-1]]).cumsum(0), persistent=False)
            self.embedding_categorical = torch.nn.Embedding(sum(counts), width)
            self.embedding_continuos = torch.nn.ModuleList(
                parts.SimpleMLP(1, 6, width) for _ in range(numbers + 1))
            self.transformer = parts.RowColTransformer(width, len(counts) + numbers + 1, 1, heads, head_width, 0.0, 2,
                                                       1, style)
            self.mlp1 = parts.SepMLP(width, counts, 1)
            self.mlpfory = parts.SimpleMLP(width, 10, 2)

        def forward(self, x_cont, x_cat):
            x_cont = torch.cat([x_cont, torch.zeros_like(x_cont[:, :1])], 1)
            numbers = torch.stack([one(x_cont[:, j]) for j, one in enumerate(self.embedding_continuos)], 1)
            x = self.transformer(self.embedding_categorical(x_cat + self.offset), numbers)
            return self.mlpfory(x[:, -1])

        def alone(self, *inputs):
            return torch.cat([self(*(x[[r]] for x in inputs)) for r in range(ROWS)])

    for style, heads, head_width in [("col", 2, 4), ("colrow", 2, 4), ("row", 1, 8)]:
        numbers, counts = (3, [3, 2, 4]) if style == "col" else (1, [3])
        module = Model(numbers, counts, style, heads, head_width)
        rows = "row" in style
        yield Case(f"lit-saint.{style}", module, heads, module.alone if rows else module, numbers, counts, seed=92,
                   narrow=True, after=(lambda m, x: {"block": m(*x)}) if rows else None)
