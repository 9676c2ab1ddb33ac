"""What onnx_models_golden.py exports: a model, what it is given, and what should be found in it."""

import dataclasses
from typing import Callable

import torch


def site(heads, queries, keys, is_self=None):
    """An attention layer: heads, queries, keys, whether keys are the tokens of the queries."""
    return [heads, queries, keys, int(queries == keys if is_self is None else is_self)]


@dataclasses.dataclass
class SmallModel:
    model: torch.nn.Module
    inputs: dict  # by name, in the order of the exported file
    output: Callable  # from the model's answer to the one tensor that is compared
    sites: list
    # Its first output is where the gradient is asked for; None where a float input is.
    embedding: torch.nn.Module | None = None
    only_eager: bool = False
    fixed_batch: bool = False  # its code writes the batch size into the file
