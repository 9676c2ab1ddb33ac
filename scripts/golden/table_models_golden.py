#!/usr/bin/env python3
"""Writes tests/golden/tables/models: tiny random models of table packages and what PyTorch says of them.

Made with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0, einops 0.8.2 and

    pip install --no-deps rtdl_revisiting_models==0.0.2 rtdl==0.0.13 pytorch_tabular==1.2.0 \\
        pytorch-widedeep==1.7.0 pytorch-frame==0.3.0
    pip install --no-deps --target lucid026 tab-transformer-pytorch==0.2.6
    pip install --no-deps --target lucid030 tab-transformer-pytorch==0.3.0

    python scripts/golden/table_models_golden.py --lucid lucid026 lucid030

Of pytorch_tabular, pytorch-widedeep and pytorch-frame only the modules that a model is made of are
imported, so that their many dependencies are not needed. SAINT, the FT-Transformer paper's code and
AutoGluon's ft_transformer are no packages, or large ones: their formulas are written below.

One file per case, FAMILY.COLUMNS.safetensors, in float64: "weights.NAME" is the state_dict as it
is; "x_cont" [rows, N] and "x_cat" [rows, C] are encoded rows, "x_missing" [rows, N + C] says which cells
have no value; "counts" [C] categories of each column; "heads" [1]; "activation.NAME" names a function that is not the package's default; "answers" [rows, outputs]; of models whose rows attend to each other these are of rows alone, and
"block" those of all rows together, "block_gradient" of each row's first one to its own numbers, and
"frozen" with all others as they are without it; "map.I" [rows, heads, queries, keys] the attention of
site I and "gradient.I" the gradient of each row's first answer with respect to it.
"""

import argparse
import contextlib
import importlib
import pathlib
import sys
import types
import typing
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional
from safetensors.numpy import save_file

ROWS = 5
COUNTS = [3, 2, 4]
NUMBERS = 3


@dataclass
class Case:
    name: str
    module: torch.nn.Module
    heads: int
    answer: callable  # of x_cont, x_cat, and x_missing where it has that
    numbers: int = NUMBERS
    counts: list = field(default_factory=lambda: list(COUNTS))
    seed: int = 0
    missing: bool = False  # some cells have no value
    activation: str = ""  # where it is not the package's own
    narrow: bool = False  # weights that 32 bits hold, for the size of the file
    ids: list = None  # from and to, of each column, where they do not count from 0
    after: callable = None  # more to write, of the module and its inputs
    more: dict = field(default_factory=dict)


def draw(module, seed):
    """Numbers that leave no part of the formulas at 0 or 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in list(module.named_parameters()) + list(module.named_buffers()):
            if not tensor.is_floating_point():
                continue
            drawn = torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype) * 0.4
            if "running_var" in name or name.endswith("std"):
                drawn = drawn.abs() + 0.5
            tensor.copy_(drawn)


@contextlib.contextmanager
def recorded_softmaxes():
    """All maps on the way, whichever way the package spells softmax."""
    maps, inside = [], []
    originals = (torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax)

    def note(original):
        def softmax(x, *arguments, **options):
            inside.append(x)  # one spelling calls another
            result = original(x, *arguments, **options)
            inside.pop()
            if not inside:
                result.retain_grad()
                maps.append(result)
            return result
        return softmax

    torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax = map(note, originals)
    try:
        yield maps
    finally:
        torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax = originals


def by_row(tensor, rows, heads):
    """[rows · heads, queries, keys] or [rows, heads, queries, keys] as the latter."""
    return tensor.reshape(rows, heads, tensor.shape[-2], tensor.shape[-1])


def write(case, folder):
    module = case.module.double().eval()
    draw(module, case.seed)
    if case.narrow:
        module = module.float().double()
    generator = torch.Generator().manual_seed(case.seed + 1)
    x_cont = torch.randn((ROWS, case.numbers), generator=generator, dtype=torch.float64)
    ids = case.ids or [(0, count) for count in case.counts]
    x_cat = torch.stack([torch.randint(*one, (ROWS,), generator=generator)
                         for one in ids], 1) if case.counts else None
    inputs = [x_cont if case.numbers else None, x_cat]
    if case.missing:
        share = torch.rand((ROWS, case.numbers + len(case.counts)), generator=generator)
        inputs.append((share < 0.3).double())
        case.more["x_missing"] = inputs[-1]
    with recorded_softmaxes() as maps:
        answers = case.answer(*inputs)
    answers[:, 0].sum().backward()
    tensors = {f"weights.{name}": tensor.float() if case.narrow and tensor.is_floating_point() else tensor
               for name, tensor in module.state_dict().items()}
    tensors["answers"] = answers
    tensors["heads"] = torch.tensor([case.heads])
    if case.numbers:
        tensors["x_cont"] = x_cont
    if case.counts:
        tensors["x_cat"] = x_cat
        tensors["counts"] = torch.tensor(case.counts)
    if case.after:
        tensors |= case.after(module, inputs)
    for i, one in enumerate(maps if case.after is None else []):
        tensors[f"map.{i}"] = by_row(one, ROWS, case.heads)
        tensors[f"gradient.{i}"] = by_row(one.grad, ROWS, case.heads)
    if case.activation:
        tensors[f"activation.{case.activation}"] = torch.ones(1)
    tensors |= case.more
    path = folder / f"{case.name}.safetensors"
    save_file({name: np.ascontiguousarray(tensor.detach().numpy())
               for name, tensor in tensors.items()}, path)
    assert path.stat().st_size < 60_000, path
    print(path.name, path.stat().st_size, answers[0].tolist(), len(maps))


# ---------------------------------------------------------------------------------------------
# Families


def columns_of(kind):
    return {"mixed": (NUMBERS, COUNTS), "numbers": (NUMBERS, []), "categories": (0, COUNTS)}[kind]


def rtdl_revisiting():
    from rtdl_revisiting_models import FTTransformer

    for kind, heads, changes in [("mixed", 2, {}), ("numbers", 4, {"ffn_activation": "ReLU"}),
                                 ("categories", 1, {}),
                                 ("linformer", 2, {"linformer_kv_compression_ratio": 0.5,
                                                   "linformer_kv_compression_sharing": "headwise"})]:
        numbers, counts = columns_of("mixed" if kind == "linformer" else kind)
        module = FTTransformer(
            n_cont_features=numbers, cat_cardinalities=counts, d_out=1 if kind == "numbers" else 2,
            n_blocks=2, d_block=8, attention_n_heads=heads, attention_dropout=0.1,
            ffn_d_hidden_multiplier=1.5, ffn_dropout=0.1, residual_dropout=0.0, **changes)
        yield Case(f"rtdl-revisiting.{kind}", module, heads, module, numbers, counts, seed=11)


def rtdl_old():
    from rtdl import FTTransformer

    for kind, heads, changes in [("mixed", 2, {}), ("numbers", 1, {}), ("categories", 4, {}),
                                 ("geglu", 2, {"ffn_activation": "GEGLU"}),
                                 ("postnorm", 2, {"prenormalization": False}),
                                 ("linformer", 2, {"kv_compression_ratio": 0.5,
                                                   "kv_compression_sharing": "layerwise"})]:
        numbers, counts = columns_of(kind if kind in ("numbers", "categories") else "mixed")
        config = FTTransformer.get_default_transformer_config(n_blocks=2)
        config |= {"d_token": 8, "ffn_d_hidden": 6, "attention_n_heads": heads, "d_out": 2, **changes}
        if not config["prenormalization"]:
            config["head_normalization"] = "Identity"
        module = FTTransformer._make(numbers, counts or None, config)
        yield Case(f"rtdl-old.{kind}", module, heads, module, numbers, counts, seed=21,
                   activation="geglu" if kind == "geglu" else "")


class PaperTokens(torch.nn.Module):
    """A class token that is a number of constant 1 without a bias."""

    def __init__(self, numbers, counts, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(numbers + 1, width))
        self.bias = torch.nn.Parameter(torch.empty(numbers + len(counts), width))
        if counts:
            self.register_buffer("category_offsets", torch.tensor([0, *counts[:-1]]).cumsum(0))
            self.category_embeddings = torch.nn.Embedding(sum(counts), width)

    def forward(self, x_cont, x_cat):
        rows = len(x_cat) if x_cont is None else len(x_cont)
        ones = torch.ones(rows, 1, dtype=torch.float64)
        x = self.weight * torch.cat([ones] + ([] if x_cont is None else [x_cont]), 1)[:, :, None]
        if x_cat is not None:
            x = torch.cat([x, self.category_embeddings(x_cat + self.category_offsets)], 1)
        return x + torch.cat([torch.zeros(1, x.shape[2], dtype=torch.float64), self.bias])


class HeadedAttention(torch.nn.Module):
    """softmax(q kᵀ / √e) v; a single head has no output projection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.W_q, self.W_k, self.W_v = (torch.nn.Linear(width, width) for _ in range(3))
        self.W_out = torch.nn.Linear(width, width) if heads > 1 else None

    def forward(self, queries, keys):
        q, k, v = (x.unflatten(2, (self.heads, -1)).transpose(1, 2)
                   for x in (self.W_q(queries), self.W_k(keys), self.W_v(keys)))
        maps = torch.softmax(q @ k.transpose(2, 3) / q.shape[3] ** 0.5, -1)
        x = (maps @ v).transpose(1, 2).flatten(2)
        return x if self.W_out is None else self.W_out(x)


class PaperTransformer(torch.nn.Module):
    def __init__(self, numbers, counts, width, heads, hidden, function, pre_norm):
        super().__init__()
        self.tokenizer = PaperTokens(numbers, counts, width)
        self.function, self.pre_norm = function, pre_norm
        self.layers = torch.nn.ModuleList()
        for i in range(2):
            layer = {"attention": HeadedAttention(width, heads),
                     "linear0": torch.nn.Linear(width, 2 * hidden),
                     "linear1": torch.nn.Linear(hidden, width), "norm1": torch.nn.LayerNorm(width)}
            if i > 0 or not pre_norm:
                layer["norm0"] = torch.nn.LayerNorm(width)
            self.layers.append(torch.nn.ModuleDict(layer))
        if pre_norm:
            self.last_normalization = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x_cont, x_cat):
        x = self.tokenizer(x_cont, x_cat)
        for i, layer in enumerate(self.layers):
            y = layer["norm0"](x) if self.pre_norm and "norm0" in layer else x
            only = 1 if i + 1 == len(self.layers) else x.shape[1]  # the class token alone at the end
            x = x[:, :only] + layer["attention"](y[:, :only], y)
            x = x if self.pre_norm else layer["norm0"](x)
            y = layer["norm1"](x) if self.pre_norm else x
            a, b = layer["linear0"](y).chunk(2, -1)
            x = x + layer["linear1"](a * self.function(b))
            x = x if self.pre_norm else layer["norm1"](x)
        x = x[:, 0]
        x = self.last_normalization(x) if self.pre_norm else x
        return self.head(self.function(x))


def rtdl_paper():
    relu = torch.nn.functional.relu
    for kind, heads, pre_norm in [("mixed", 2, True), ("numbers", 4, True), ("categories", 1, True),
                                  ("postnorm", 2, False)]:
        numbers, counts = columns_of("mixed" if kind == "postnorm" else kind)
        module = PaperTransformer(numbers, counts, 8, heads, 6, relu, pre_norm)
        yield Case(f"rtdl-paper.{kind}", module, heads, module, numbers, counts, seed=31)


def lucid(folder):
    """The package from that folder."""
    for name in [name for name in sys.modules if name.startswith("tab_transformer_pytorch")]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    package = importlib.import_module("tab_transformer_pytorch")
    sys.path.pop(0)
    return package


def empty(rows, dtype):
    return torch.empty((rows, 0), dtype=dtype)


def both(module):
    """Categories first, and empty ones where there are none."""
    def answer(x_cont, x_cat):
        rows = len(x_cat) if x_cont is None else len(x_cont)
        return module(empty(rows, torch.int64) if x_cat is None else x_cat.clone(),
                      empty(rows, torch.float64) if x_cont is None else x_cont)
    return answer


def lucid_ft():
    package = lucid(LUCID[1])
    for kind, heads, width in [("mixed", 2, 16), ("numbers", 1, 16), ("categories", 4, 4)]:
        numbers, counts = columns_of(kind)
        module = package.FTTransformer(categories=counts, num_continuous=numbers, dim=4, depth=2,
                                       heads=heads, dim_head=width, dim_out=2)
        yield Case(f"lucid-ft.{kind}", module, heads, both(module), numbers, counts, seed=41)


def lucid_tab():
    for version, folder in zip(["0.2.6", "0.3.0"], LUCID):
        package = lucid(folder)
        for kind, heads, width in [("mixed", 2, 16), ("categories", 2, 4)]:
            numbers, counts = columns_of(kind)
            scale = torch.rand((numbers, 2)) + 0.5 if kind == "mixed" and version == "0.3.0" else None
            module = package.TabTransformer(
                categories=counts, num_continuous=numbers, dim=8, depth=2, heads=heads, dim_head=width,
                dim_out=2, mlp_hidden_mults=(1, 1), continuous_mean_std=scale)
            yield Case(f"lucid-tab.{version}.{kind}", module, heads, both(module), numbers, counts,
                       seed=51)


def without_package(name):
    """Lets modules of a package be imported without what its __init__ imports."""
    spec = importlib.util.find_spec(name)
    package = types.ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package


def pytorch_tabular():
    for name in ["pytorch_tabular", "pytorch_tabular.models", "pytorch_tabular.models.common",
                 "pytorch_tabular.models.common.layers"]:
        without_package(name)
    utils = types.ModuleType("pytorch_tabular.utils")
    utils._initialize_kaiming = lambda x, initialization, d_sqrt_inv: None
    sys.modules["pytorch_tabular.utils"] = utils
    layers = "pytorch_tabular.models.common.layers."
    embeddings = importlib.import_module(layers + "embeddings")
    transformers = importlib.import_module(layers + "transformers")
    norms = importlib.import_module(layers + "batch_norm")

    class Model(torch.nn.Module):
        """As FTTransformerModel and TabTransformerModel put their parts together."""

        def __init__(self, numbers, counts, heads, cls, strategy, activation):
            super().__init__()
            self.cls = cls
            self._embedding_layer = embeddings.Embedding2dLayer(
                continuous_dim=numbers if cls else 0, categorical_cardinality=counts, embedding_dim=8,
                shared_embedding_strategy=strategy, frac_shared_embed=0.25, embedding_bias=cls,
                batch_norm_continuous_input=cls, initialization="kaiming_uniform")
            self._backbone = torch.nn.Module()
            blocks = {f"mha_block_{i}": transformers.TransformerEncoderBlock(
                8, heads, ff_hidden_multiplier=1, ff_activation=activation) for i in range(2)}
            self._backbone.transformer_blocks = torch.nn.Sequential()
            for name, block in blocks.items():
                self._backbone.transformer_blocks.add_module(name, block)
            if cls:
                self._backbone.add_cls = transformers.AppendCLSToken(8, "kaiming_uniform")
            if numbers:
                self._backbone.normalizing_batch_norm = norms.BatchNorm1d(numbers)
            self._head = torch.nn.Module()
            width = 8 if cls else 8 * len(counts) + numbers
            self._head.layers = torch.nn.Sequential(torch.nn.Linear(width, 2))

        def forward(self, x_cont, x_cat):
            given = {} if x_cat is None else {"categorical": x_cat}
            if self.cls and x_cont is not None:
                given["continuous"] = x_cont
            x = self._embedding_layer(given)
            x = self._backbone.add_cls(x) if self.cls else x
            x = self._backbone.transformer_blocks(x)
            if self.cls:
                return self._head.layers(x[:, -1])
            x = x.flatten(1)
            if x_cont is not None:
                x = torch.cat([x, self._backbone.normalizing_batch_norm(x_cont)], 1)
            return self._head.layers(x)

    for kind, heads, strategy, activation in [("mixed", 2, "fraction", "GEGLU"),
                                              ("numbers", 1, "fraction", "GEGLU"),
                                              ("categories", 2, "add", "ReLU")]:
        numbers, counts = columns_of(kind)
        module = Model(numbers, counts, heads, True, strategy, activation)
        yield Case(f"pt-ft.{kind}", module, heads, module, numbers, counts, seed=61,
                   activation="" if activation == "GEGLU" else activation)
    for kind, heads, strategy, activation in [("mixed", 2, "fraction", "GEGLU"),
                                              ("categories", 1, "add", "GEGLU")]:
        numbers, counts = columns_of(kind)
        module = Model(numbers, counts, heads, False, strategy, activation)
        yield Case(f"pt-tab.{kind}", module, heads, module, numbers, counts, seed=62)


class AutoGluon(torch.nn.Module):
    """Categories, numbers, each through a Linear; the class token last; rtdl's blocks."""

    def __init__(self, numbers, counts, heads, tokens=4, width=8):
        super().__init__()
        import rtdl

        if counts:
            self.categorical_feature_tokenizer = rtdl.CategoricalFeatureTokenizer(
                counts, tokens, True, "uniform")
            self.categorical_adapter = torch.nn.Linear(tokens, width)
        if numbers:
            self.numerical_feature_tokenizer = torch.nn.Module()
            self.numerical_feature_tokenizer.layers = torch.nn.Sequential(
                rtdl.NumericalFeatureTokenizer(numbers, tokens, True, "uniform"))
            self.numerical_adapter = torch.nn.Linear(tokens, width)
        config = rtdl.FTTransformer.get_default_transformer_config(n_blocks=2)
        config |= {"d_token": width, "ffn_d_hidden": 6, "attention_n_heads": heads, "d_out": 2,
                   "ffn_activation": "GEGLU"}
        whole = rtdl.modules.Transformer(**config)
        self.head, whole.head = whole.head, torch.nn.Identity()
        self.transformer = whole
        self.cls_token = rtdl.CLSToken(width, "uniform")

    def forward(self, x_cont, x_cat):
        parts = []
        if x_cat is not None:
            parts.append(self.categorical_adapter(self.categorical_feature_tokenizer(x_cat)))
        if x_cont is not None:
            parts.append(self.numerical_adapter(self.numerical_feature_tokenizer.layers(x_cont)))
        return self.head(self.transformer(self.cls_token(torch.cat(parts, 1))))


def autogluon():
    for kind, heads in [("mixed", 2), ("numbers", 4), ("categories", 1)]:
        numbers, counts = columns_of(kind)
        module = AutoGluon(numbers, counts, heads)
        yield Case(f"ag-ft.{kind}", module, heads, module, numbers, counts, seed=71)


def plain_attention(query, key, value, *arguments, **options):
    maps = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, -1)
    return maps @ value


def pytorch_frame():
    """The package's blocks; its encoders of columns by their formulas."""
    for name in ["torch_frame", "torch_frame.nn", "torch_frame.nn.conv"]:
        without_package(name)
    base = importlib.import_module("torch_frame.nn.conv.table_conv")
    sys.modules["torch_frame.nn.conv"].TableConv = base.TableConv
    convs = importlib.import_module("torch_frame.nn.conv.ft_transformer_convs")
    torch.nn.functional.scaled_dot_product_attention = plain_attention

    class Numerical(torch.nn.Module):
        def __init__(self, numbers):
            super().__init__()
            self.weight, self.bias = (torch.nn.Parameter(torch.empty(numbers, 8)) for _ in range(2))
            self.register_buffer("mean", torch.empty(numbers))
            self.register_buffer("std", torch.empty(numbers))

        def forward(self, x):
            return ((x - self.mean) / self.std)[:, :, None] * self.weight + self.bias

    class Categorical(torch.nn.Module):
        def __init__(self, counts):
            super().__init__()
            self.emb = torch.nn.Embedding(sum(counts) + 1, 8)
            self.register_buffer("offset", torch.tensor([0, *counts[:-1]]).cumsum(0))

        def forward(self, ids, missing):
            return self.emb(torch.where(missing, 0, ids + self.offset + 1))

    class Model(torch.nn.Module):
        def __init__(self, numbers, counts):
            super().__init__()
            self.encoder = torch.nn.Module()
            parts = ({"categorical": Categorical(counts)} if counts else {}) | (
                {"numerical": Numerical(numbers)} if numbers else {})
            self.encoder.encoder_dict = torch.nn.ModuleDict(parts)
            self.backbone = convs.FTTransformerConvs(channels=8, num_layers=2)
            self.decoder = torch.nn.Sequential(torch.nn.LayerNorm(8), torch.nn.ReLU(),
                                               torch.nn.Linear(8, 2))

        def forward(self, x_cont, x_cat, missing=None):
            parts, numbers = [], 0 if x_cont is None else x_cont.shape[1]
            if missing is None:
                missing = torch.zeros(ROWS, numbers + (0 if x_cat is None else x_cat.shape[1]))
            gone = missing > 0
            if x_cont is not None:
                x = torch.where(gone[:, :numbers], torch.nan, x_cont)
                parts.append(torch.nan_to_num(self.encoder.encoder_dict["numerical"](x), nan=0))
            if x_cat is not None:
                parts.append(self.encoder.encoder_dict["categorical"](x_cat, gone[:, numbers:]))
            return self.decoder(self.backbone(torch.cat(parts, 1))[1])

    for kind in ["mixed", "numbers", "categories", "missing"]:
        numbers, counts = {"numbers": (2, []), "categories": (0, [3, 2])}.get(kind, (2, [3, 2]))
        module = Model(numbers, counts)
        yield Case(f"pyf-ft.{kind}", module, 8, module, numbers, counts, seed=81,
                   missing=kind == "missing")


class SaintAttention(torch.nn.Module):
    def __init__(self, width, heads, head_width):
        super().__init__()
        self.heads = heads
        self.to_qkv = torch.nn.Linear(width, 3 * heads * head_width, bias=False)
        self.to_out = torch.nn.Linear(heads * head_width, width)

    def parts(self, x):
        return [y.unflatten(2, (self.heads, -1)).transpose(1, 2) for y in self.to_qkv(x).chunk(3, -1)]

    def forward(self, x, others=None):
        """`others` are keys and values that are there besides the rows' own."""
        q, k, v = self.parts(x)
        if others is not None:
            k, v = (torch.cat([own, other], 2) for own, other in zip((k, v), others))
        maps = torch.softmax(q @ k.transpose(2, 3) * q.shape[3] ** -0.5, -1)
        return self.to_out((maps @ v).transpose(1, 2).flatten(2))


class SaintForward(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = torch.nn.ModuleDict({"0": torch.nn.Linear(width, 8 * width),
                                        "3": torch.nn.Linear(4 * width, width)})

    def forward(self, x):
        a, gate = self.net["0"](x).chunk(2, -1)
        return self.net["3"](a * torch.nn.functional.gelu(gate))


class SaintStep(torch.nn.Module):
    """norm x + f(norm x)."""

    def __init__(self, width, f):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.fn = torch.nn.ModuleDict({"fn": f})

    def forward(self, x, *others):
        x = self.norm(x)
        return x + self.fn["fn"](x, *others)


def two_layers(*widths):
    module = torch.nn.Module()
    module.layers = torch.nn.Sequential(torch.nn.Linear(*widths[:2]), torch.nn.ReLU(),
                                        torch.nn.Linear(*widths[1:]))
    return module


class Saint(torch.nn.Module):
    """Rows attend to each other where the style has "row"; `frozen` rows to a context instead."""

    def __init__(self, numbers, counts, style, heads, depth, width=4):
        super().__init__()
        counts = [1, *counts]  # the class token
        self.style, tokens = style, len(counts) + numbers
        self.register_buffer("categories_offset", torch.tensor([0, *counts[:-1]]).cumsum(0))
        self.embeds = torch.nn.Embedding(sum(counts), width)
        self.simple_MLP = torch.nn.ModuleList(two_layers(1, 6, width) for _ in range(numbers))
        self.mask_embeds_cat = torch.nn.Embedding(2 * len(counts), width)
        self.mask_embeds_cont = torch.nn.Embedding(2 * numbers, width)
        self.transformer = torch.nn.Module()
        self.transformer.layers = torch.nn.ModuleList()
        for _ in range(depth):
            steps = []
            for kind, size, head in [("col", width, 16), ("row", width * tokens, 64)]:
                if kind in style:
                    steps += [SaintStep(size, SaintAttention(size, heads, head)),
                              SaintStep(size, SaintForward(size))]
            self.transformer.layers.append(torch.nn.ModuleList(steps))
        self.mlpfory = two_layers(width, 10, 2)

    def tokens(self, x_cont, x_cat, missing):
        ids = torch.cat([torch.zeros_like(x_cat[:, :1]), x_cat], 1)
        categories = self.embeds(ids + self.categories_offset)
        numbers = torch.stack([one.layers(x_cont[:, [j]]) for j, one in enumerate(self.simple_MLP)], 1)
        if missing is not None:
            count = x_cont.shape[1]
            numbers = torch.where(missing[:, :count, None] > 0, self.mask_embeds_cont.weight[::2], numbers)
            gone = torch.cat([torch.zeros_like(missing[:, :1]), missing[:, count:]], 1)[:, :, None]
            categories = torch.where(gone > 0, self.mask_embeds_cat.weight[::2], categories)
        return torch.cat([categories, numbers], 1)

    def forward(self, x_cont, x_cat, missing=None, others=None, noted=None):
        """`noted` gets the keys and values of each row site, which `others` gives back."""
        x = self.tokens(x_cont, x_cat, missing)
        count, given = x.shape[1], iter(others or [])
        for steps in self.transformer.layers:
            if "col" in self.style:
                x = steps[1](steps[0](x))
            if "row" in self.style:
                x = x.flatten(1)[:, None] if others else x.flatten(1)[None]
                if noted is not None:
                    noted.append(steps[-2].fn["fn"].parts(steps[-2].norm(x))[1:])
                x = steps[-2](x, *([next(given)] if others else []))
                x = steps[-1](x).reshape(-1, count, x.shape[-1] // count)
        return self.mlpfory.layers(x[:, 0])

    def alone(self, *inputs):
        return torch.cat([self(*(None if x is None else x[[r]] for x in inputs))
                          for r in range(ROWS)])


def saint_contexts(module, case_inputs):
    """Each row with all others: together, and with their keys and values as they are without it."""
    x_cont, x_cat = case_inputs
    own = x_cont.clone().requires_grad_()
    block = module(own, x_cat)
    gradients = torch.stack([torch.autograd.grad(block[r, 0], own, retain_graph=True)[0][r]
                             for r in range(ROWS)])
    frozen = []
    for r in range(ROWS):
        rest = [i for i in range(ROWS) if i != r]
        noted = []
        module(x_cont[rest], x_cat[rest], noted=noted)
        frozen.append(module(x_cont[[r]], x_cat[[r]], others=noted))
    return {"block": block, "block_gradient": gradients, "frozen": torch.cat(frozen)}


def saint():
    for kind, style, heads, depth in [("col", "col", 2, 2), ("missing", "col", 1, 1),
                                      ("colrow", "colrow", 1, 1), ("row", "row", 1, 1),
                                      ("deep", "colrow", 1, 2)]:
        numbers, counts = (3, [3, 2]) if style == "col" else (1, [3])
        module = Saint(numbers, counts, style, heads, depth)
        yield Case(f"saint.{kind}", module, heads, module.alone if "row" in style else module,
                   numbers, counts, seed=91, missing=kind == "missing", narrow=True,
                   after=saint_contexts if "row" in style else None)


def widedeep():
    for name in ["pytorch_widedeep", "pytorch_widedeep.models", "pytorch_widedeep.models.tabular",
                 "pytorch_widedeep.models.tabular.mlp",
                 "pytorch_widedeep.models.tabular.transformers", "pytorch_widedeep.utils"]:
        without_package(name)
    words = types.ModuleType("pytorch_widedeep.wdtypes")
    words.__getattr__ = lambda name: getattr(typing, name, typing.Any)
    sys.modules["pytorch_widedeep.wdtypes"] = words
    transformers = "pytorch_widedeep.models.tabular.transformers."
    tab = importlib.import_module(transformers + "tab_transformer").TabTransformer
    saint = importlib.import_module(transformers + "saint").SAINT
    ft = importlib.import_module(transformers + "ft_transformer").FTTransformer

    class Model(torch.nn.Module):
        """A WideDeep of this component alone; ids are numbered through all columns, from 1."""

        def __init__(self, kind, numbers, counts, cls, **options):
            super().__init__()
            self.cls, self.counts, self.style = cls, counts, kind.__name__
            names = (["cls_token"] if cls else []) + [f"c{i}" for i in range(len(counts))]
            values = ([1] if cls else []) + counts
            continuous = [f"n{i}" for i in range(numbers)]
            columns = {name: i for i, name in enumerate(names + continuous)}
            component = kind(columns, cat_embed_input=list(zip(names, values)) or None,
                             continuous_cols=continuous or None, n_blocks=options.pop("n_blocks", 2),
                             **options)
            self.deeptabular = torch.nn.Sequential(component, torch.nn.Linear(component.output_dim, 2))

        def forward(self, x_cont, x_cat):
            parts = []
            if x_cat is not None:
                if self.cls:
                    parts.append(torch.ones(len(x_cat), 1, dtype=torch.float64))
                parts.append(x_cat.double())
            if x_cont is not None:
                parts.append(x_cont)
            # The package makes numbers 32 bits wide.
            original, torch.Tensor.float = torch.Tensor.float, torch.Tensor.double
            try:
                return self.deeptabular(torch.cat(parts, 1))
            finally:
                torch.Tensor.float = original

        def alone(self, *inputs):
            return torch.cat([self(*(None if x is None else x[[r]] for x in inputs))
                              for r in range(ROWS)])

    def numbered(counts, cls):
        """Ids through all columns, from 1, or 2 where a class token was numbered first."""
        first = 2 if cls else 1
        return [(first + sum(counts[:i]), first + sum(counts[:i + 1])) for i in range(len(counts))]

    def case(name, kind, cls, heads, embed, numbers=NUMBERS, counts=(3, 2, 4), **options):
        counts = list(counts)
        if embed and kind is tab:
            options["embed_continuous_method"] = "standard"
        module = Model(kind, numbers, counts, cls, n_heads=heads, input_dim=4, **options)
        rows = kind is saint
        return Case(name, module, heads, module.alone if rows else module, numbers, counts, seed=95,
                    narrow=True, ids=numbered(counts, cls),
                    after=(lambda m, x: {"block": m(*x)}) if rows else None)

    yield case("wd-tab.mixed", tab, False, 2, False, cont_norm_layer="batchnorm")
    yield case("wd-tab.class", tab, True, 2, False, use_cat_bias=True, cont_norm_layer="layernorm",
               mlp_hidden_dims=[6, 5], mlp_batchnorm=True)
    yield case("wd-tab.embedded", tab, False, 1, True, mlp_hidden_dims=[6], use_qkv_bias=True)
    yield case("wd-tab.categories", tab, False, 2, False, numbers=0)
    yield case("wd-saint.class", saint, True, 2, True, numbers=1, counts=[3], ff_factor=1)
    yield case("wd-saint.flat", saint, False, 2, True, numbers=2, counts=[3], ff_factor=1, n_blocks=1)
    yield case("wd-ft.class", ft, True, 2, True, ff_factor=1.5)
    yield case("wd-ft.flat", ft, False, 1, True, kv_compression_factor=1.0, kv_sharing=True,
               use_qkv_bias=True)


FAMILIES = [rtdl_revisiting, rtdl_old, rtdl_paper, lucid_ft, lucid_tab, pytorch_tabular, autogluon,
            pytorch_frame, saint, widedeep]
LUCID = [None, None]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).parents[2] / "tests/golden/tables/models")
    parser.add_argument("--only", default="", help="names that begin so")
    parser.add_argument("--lucid", nargs=2, default=[None, None], help="folders of 0.2.6 and 0.3.0")
    arguments = parser.parse_args()
    LUCID[:] = arguments.lucid
    arguments.out.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        if not family.__name__.startswith(arguments.only):
            continue
        for case in family():
            write(case, arguments.out)


if __name__ == "__main__":
    main()
