"""What a golden case of a table model is, and how it is written."""

import contextlib
import sys
import types
from dataclasses import dataclass, field
from importlib.util import find_spec

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


def columns_of(kind):
    return {"mixed": (NUMBERS, COUNTS), "numbers": (NUMBERS, []), "categories": (0, COUNTS)}[kind]


def without_package(name):
    """Lets modules of a package be imported without what its __init__ imports."""
    spec = find_spec(name)
    package = types.ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package
