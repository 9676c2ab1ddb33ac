"""FT-Transformers of rtdl's three kinds and of AutoGluon, which is made of rtdl's blocks."""

import torch
import torch.nn.functional

from table_cases import Case, columns_of


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
