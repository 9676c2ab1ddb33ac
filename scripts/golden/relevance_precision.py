"""How far float32 is from float64."""

import torch
from torch.overrides import TorchFunctionMode

FLOAT32_RUNS = 8


def rounded(number):
    return float(f"{number:.3g}")


class ShuffledSums(TorchFunctionMode):
    """Adds the terms of every matrix product up in another order, drawn from the seed."""

    def __init__(self, seed):
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function.__name__ in ("matmul", "__matmul__"):
            left, right = args
            order = torch.randperm(left.shape[-1], generator=self.generator)
            args = (left[..., order],
                    right[order] if right.ndim == 1 else right[..., order, :])
        return function(*args, **(kwargs or {}))


def in_float32(compute):
    """The answers in float32 for several orders of summation: one alone may be lucky."""
    answers = []
    for seed in range(FLOAT32_RUNS):
        with ShuffledSums(seed):
            answers.append(compute())
    return answers


def float32_deviations(exact, rough):
    found = {}
    for name, values in exact.items():
        largest = values.abs().max().item()
        difference = max((values - answers[name].double()).abs().max().item() for answers in rough)
        found[name] = rounded(difference / largest if largest else difference)
    return found
