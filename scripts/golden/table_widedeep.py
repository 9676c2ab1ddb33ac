"""Models of pytorch-widedeep."""

import importlib
import sys
import types
import typing

import torch

from table_cases import NUMBERS, ROWS, Case, without_package


def components():
    """TabTransformer, SAINT and FTTransformer of the package."""
    for name in ["pytorch_widedeep", "pytorch_widedeep.models", "pytorch_widedeep.models.tabular",
                 "pytorch_widedeep.models.tabular.mlp",
                 "pytorch_widedeep.models.tabular.transformers", "pytorch_widedeep.utils"]:
        without_package(name)
    words = types.ModuleType("pytorch_widedeep.wdtypes")
    words.__getattr__ = lambda name: getattr(typing, name, typing.Any)
    sys.modules["pytorch_widedeep.wdtypes"] = words
    transformers = "pytorch_widedeep.models.tabular.transformers."
    return [importlib.import_module(transformers + module).__dict__[name]
            for module, name in [("tab_transformer", "TabTransformer"), ("saint", "SAINT"), ("ft_transformer", "FTTransformer")]]


def numbered(counts, cls):
    """Ids through all columns, from 1, or 2 where a class token was numbered first."""
    first = 2 if cls else 1
    return [(first + sum(counts[:i]), first + sum(counts[:i + 1])) for i in range(len(counts))]


def widedeep():
    tab, saint, ft = components()

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

    def case(name, kind, cls, heads, embed, numbers=NUMBERS, counts=(3, 2, 4), more=None, **options):
        counts = list(counts)
        if embed and kind is tab:
            options["embed_continuous_method"] = "standard"
        module = Model(kind, numbers, counts, cls, n_heads=heads, input_dim=4, **options)
        rows = kind is saint
        return Case(name, module, heads, module.alone if rows else module, numbers, counts, seed=95,
                    narrow=True, ids=numbered(counts, cls), more=more or {},
                    after=(lambda m, x: {"block": m(*x)}) if rows else None)

    yield case("wd-tab.mixed", tab, False, 2, False, cont_norm_layer="batchnorm")
    yield case("wd-tab.class", tab, True, 2, False, use_cat_bias=True, cont_norm_layer="layernorm",
               mlp_hidden_dims=[6, 5], mlp_batchnorm=True)
    # The layers behind the class token read as many numbers as those behind a single column would.
    yield case("wd-tab.one.class", tab, True, 2, False, numbers=0, counts=[3], more={"first_id": torch.tensor([2])})
    yield case("wd-tab.embedded", tab, False, 1, True, mlp_hidden_dims=[6], use_qkv_bias=True)
    yield case("wd-tab.categories", tab, False, 2, False, numbers=0)
    yield case("wd-saint.class", saint, True, 2, True, numbers=1, counts=[3], ff_factor=1)
    yield case("wd-saint.flat", saint, False, 2, True, numbers=2, counts=[3], ff_factor=1, n_blocks=1)
    yield case("wd-ft.class", ft, True, 2, True, ff_factor=1.5)
    yield case("wd-ft.flat", ft, False, 1, True, kv_compression_factor=1.0, kv_sharing=True,
               use_qkv_bias=True)
