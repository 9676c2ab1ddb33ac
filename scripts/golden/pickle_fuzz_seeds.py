#!/usr/bin/env python3
"""Writes seeds of fuzz/corpus/pickle that hold objects of other packages, as training programs save them.

Made with Python 3.11 and torch 2.15.0: python scripts/golden/pickle_fuzz_seeds.py

foreign_objects   weights beside an optimizer's state, a configuration and a random state of packages that are not there
foreign_reduce    the same with an object that a call makes, as os.system would be: it is named, and never called
"""

import pathlib
import sys
import types

import torch

FOLDER = pathlib.Path(__file__).parents[2] / "fuzz/corpus/pickle"


def foreign(module, name):
    """A class of a package that nobody has."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        path = ".".join(parts[:count])
        sys.modules.setdefault(path, types.ModuleType(path)).__path__ = []
    made = type(name, (), {"__module__": module, "__qualname__": name})
    setattr(sys.modules[module], name, made)
    return made


class Called:
    def __reduce__(self):
        import os

        return os.system, ("true",)


def main():
    weights = {"tokenizer.weight": torch.arange(6.0).reshape(2, 3), "head.bias": torch.ones(2)}
    stream, config = foreign("zero.stream", "Stream")(), foreign("omegaconf", "DictConfig")()
    stream.iteration, config.content = 7, {"d_token": 8, "names": ["a", "b"]}
    legacy = {"_use_new_zipfile_serialization": False}
    torch.save({"model": weights, "optimizer": {"state": {0: {"step": 3}}}, "stream": stream, "config": config},
               FOLDER / "foreign_objects", **legacy)
    torch.save({"state_dict": weights, "callbacks": [Called()]}, FOLDER / "foreign_reduce", **legacy)


if __name__ == "__main__":
    main()
