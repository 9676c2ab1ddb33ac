"""Testing with concept activation vectors: does a model's answer lean on a concept that people name by examples?"""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _inputs, _native
from ._choices import choice
from ._model import Model
from ._native import FileError, InvalidInput
from ._progress import Bar
from ._report import Report


class ConceptReport(Report):
    """Scores of concepts with their tests."""

    def to_pandas(self):
        """A row for each target, layer and concept; scores of single counterparts are in `to_dict()`."""
        import pandas

        rows = []
        for test in self._dict["tests"]:
            row = {}
            for key, value in test.items():
                if isinstance(value, Mapping):
                    row.update({f"{key}.{name}": one for name, one in value.items()})
                elif not isinstance(value, list) and not (value is None and key in _GROUPS):
                    row[key] = value
            rows.append(row)
        return pandas.DataFrame(rows)


# Numbers of a test that are missing together, where a concept has no direction.
_GROUPS = ("held_out", "t_test", "score_permutation", "magnitude_permutation")


def tcav(model: Model, concepts: Mapping, random, targets: Mapping, *, layers=None, tokens: str | None = None,
         counterparts: int = 50, permutations: int = 1000, strength: float = 1.0, level: float = 0.05, seed: int = 0,
         precision: str = "single", memory_gigabytes: float = 2.0, progress=None) -> ConceptReport:
    """Does the answer lean on a concept?

    concepts  name: examples. Examples are a list of texts or pictures, a folder of pictures, a file of texts (one per
              line), or arrays by the names of a file's inputs, whose first axis counts examples
    random    sets of other examples, as a dictionary or a list
    targets   label: examples of inputs whose answer is looked at
    layers    numbers of blocks (0 is the first); default: all
    tokens    "mean", "first", "last" or "all" rows of a block's output; default: all for pictures, the mean for texts
    """
    pictures = model.reads == "pictures"
    for name, given in (("concepts", concepts), ("targets", targets)):
        if not isinstance(given, Mapping):
            raise InvalidInput(f"{name} is a dictionary of names and examples, such as {{'striped': 'folder'}}")
    request = _native.ConceptsRequest()
    request.layers = [] if layers is None else [layers] if isinstance(layers, int) else list(layers)
    request.rows = choice(_native.TokenRows, "tokens", tokens or ("all" if pictures else "mean"))
    request.counterparts, request.permutations = counterparts, permutations
    request.strength, request.level, request.seed = strength, level, seed
    request.precision = choice(_native.Precision, "precision", precision)
    request.memory_bytes = int(memory_gigabytes * 2**30)
    if not isinstance(random, Mapping):
        # One list of examples is one set.
        sets = [random] if isinstance(random, (str, os.PathLike)) or _is_example(random[:1], pictures) else random
        random = {f"random {index}": one for index, one in enumerate(sets)}
    with Bar("concepts", progress) as bar:
        found = _native.test_concepts(
            model._native,
            [_native.ExampleSet(name, _examples(given, pictures)) for name, given in concepts.items()],
            [_native.ExampleSet(name, _examples(given, pictures)) for name, given in random.items()],
            [_native.TargetSet(str(label), _examples(given, pictures)) for label, given in targets.items()],
            request, bar.callback)
    return ConceptReport(found)


def _is_example(first, pictures: bool) -> bool:
    if not first:
        raise InvalidInput("random= is empty: give at least one set of examples")
    one = first[0]
    if _inputs.is_arrays(one):
        return False
    if isinstance(one, (str, os.PathLike)):
        # Paths of folders and files of texts are sets; sentences and pictures are examples.
        return not (os.path.isdir(one) or (not pictures and os.path.isfile(one)))
    return not isinstance(one, (list, tuple)) or (not pictures and isinstance(one, tuple))


def _examples(given, pictures: bool) -> list:
    if _inputs.is_arrays(given):
        return [_inputs.array_input(given)]
    if not isinstance(given, (str, os.PathLike)):
        return [_inputs.picture_input(one) if pictures else _inputs.text_input(one) for one in given]
    path = os.fspath(given)
    if not pictures:
        if not os.path.isfile(path):
            raise FileError(f"there is no file '{path}' of texts, one per line")
        with open(path, encoding="utf-8") as file:
            return [_inputs.text_input(line.rstrip("\n")) for line in file if line.strip()]
    if not os.path.isdir(path):
        raise InvalidInput(f"'{path}' is not a folder of pictures")
    files = sorted(os.path.join(path, name) for name in os.listdir(path))
    files = [file for file in files if os.path.isfile(file) and _native.means_picture(file)]
    if not files:
        raise InvalidInput(f"the folder '{path}' has no JPEG, PNG or WebP pictures")
    return [_inputs.picture_input(file) for file in files]
