"""Models of packages that are imported: tab-transformer-pytorch, pytorch_tabular and pytorch-frame."""

import importlib
import sys
import types

import torch
import torch.nn.functional

from table_cases import ROWS, Case, columns_of, without_package

LUCID = [None, None]  # folders of versions 0.2.6 and 0.3.0 of tab-transformer-pytorch


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
            # With 51 the first one's ReLUs are off in every row.
            seed = 54 if (version, kind) == ("0.2.6", "mixed") else 51
            yield Case(f"lucid-tab.{version}.{kind}", module, heads, both(module), numbers, counts,
                       seed=seed)


def tabular_layers():
    """The modules embeddings, transformers and batch_norm of the package."""
    for name in ["pytorch_tabular", "pytorch_tabular.models", "pytorch_tabular.models.common",
                 "pytorch_tabular.models.common.layers"]:
        without_package(name)
    utils = types.ModuleType("pytorch_tabular.utils")
    utils._initialize_kaiming = lambda x, initialization, d_sqrt_inv: None
    sys.modules["pytorch_tabular.utils"] = utils
    layers = "pytorch_tabular.models.common.layers."
    return [importlib.import_module(layers + name) for name in ("embeddings", "transformers", "batch_norm")]


def pytorch_tabular():
    embeddings, transformers, norms = tabular_layers()

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
