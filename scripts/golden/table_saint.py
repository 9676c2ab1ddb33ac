"""SAINT by its formulas."""

import torch
import torch.nn.functional

from table_cases import ROWS, Case


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
