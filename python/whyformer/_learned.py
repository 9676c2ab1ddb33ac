"""Linear probes: what each layer knows, beside the controls."""

from __future__ import annotations

import os

import numpy as np

from . import _inputs, _native
from ._choices import choice
from ._native import InvalidInput
from ._progress import Bar
from ._report import Report


class LearnedReport(Report):
    """Accuracies of probes with their controls, a layer at a time."""

    def directions(self, layer: int | str) -> tuple[np.ndarray, np.ndarray]:
        """Weights [labels, width] and intercepts [labels] of a layer (a number, or "embeddings")."""
        labels, weights, intercepts = self._native.directions(-1 if layer == "embeddings" else layer)
        return np.array(weights, np.float32).reshape(labels, -1), np.array(intercepts, np.float32)

    def save_directions(self, path) -> None:
        """Every layer's directions as safetensors, or as .npy [layers, labels, width] without the intercepts."""
        if os.fspath(path).endswith(".npy"):
            np.save(path, np.stack([self.directions(one["layer"])[0] for one in self._dict["layers"]]))
        else:
            _native.save(path, self._native.safetensors())

    def to_pandas(self):
        """A row per layer."""
        import pandas

        rows = []
        for layer in self._dict["layers"]:
            rows.append({"layer": layer["layer"], "accuracy": layer["accuracy"]["accuracy"],
                         "low": layer["accuracy"]["low"], "high": layer["accuracy"]["high"],
                         "majority": self._dict["majority"]["accuracy"], "shuffled": layer["shuffled"]["mean"],
                         "p": layer["p"], "random_weights": (layer["random_weights"] or {}).get("accuracy"),
                         "control_task": (layer["control_task"] or {}).get("accuracy"),
                         "selectivity": layer["selectivity"]})
        return pandas.DataFrame(rows)


def learned(model, inputs, labels, words, layers, tokens, probe, strength, held_out, shuffles, random_weights, max_rows,
            seed, precision, progress) -> LearnedReport:
    if words is not None:
        if inputs is not None or labels is not None:
            raise InvalidInput("words=FILE gives the texts and their labels by itself: leave out the others")
        examples = _native.labelled_words(os.fspath(words))
    else:
        if inputs is None or labels is None or len(inputs) != len(labels):
            raise InvalidInput("learned takes inputs and as many labels, or words=FILE")
        pictures = model._native.reads_pictures and _inputs.is_picture(inputs)
        values, _ = (_inputs.pictures if pictures else _inputs.texts)(inputs)
        examples = [_native.LearnedExample(one, str(label), f"input {index}")
                    for index, (one, label) in enumerate(zip(values, labels))]
    request = _native.LearnedRequest()
    request.layers = [] if layers is None else [layers] if isinstance(layers, int) else list(layers)
    request.rows = choice(_native.TokenRows, "tokens", tokens)
    request.probe = choice(_native.ProbeKind, "probe", probe)
    request.strength, request.held_out, request.shuffles = strength, held_out, shuffles
    request.random_weights, request.max_rows, request.seed = random_weights, max_rows, seed
    request.precision = choice(_native.Precision, "precision", precision)
    with Bar("runs and fits", progress) as bar:
        return LearnedReport(_native.probe_layers(model._native, examples, request, bar.callback))
