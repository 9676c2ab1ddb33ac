"""Which explanations to believe: methods measured over many inputs, and compared with each other."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from . import _native
from ._inputs import pictures
from ._native import InvalidInput
from ._progress import Bar
from ._report import Report
from ._request import explain_request, requested_target


class Evaluation(Report):
    """Methods × metrics over many inputs, with intervals, ranks and tests."""

    @property
    def table(self):
        """Means, a row per method and a column per metric."""
        import pandas

        return pandas.DataFrame({column: [method["cells"][index]["mean"] for method in self.methods]
                                 for index, column in enumerate(self._column_names())},
                                index=[method["method"] for method in self.methods])

    def to_pandas(self):
        """A row per input, method and metric."""
        import io

        import pandas

        return pandas.read_csv(io.StringIO(self._native.csv()), keep_default_na=True, na_values=[""])

    def _column_names(self) -> list[str]:
        several = len({column["hiding"] for column in self.columns if column["hiding"]}) > 1
        return [f"{one['metric']} ({one['hiding']})" if several and one["hiding"] else one["metric"]
                for one in self.columns]


class Agreement(Report):
    """Methods × methods over many inputs, with a ceiling and a floor."""

    def table(self, measure: str = "spearman"):
        """Means of one measure, a row and a column per method; the ceiling stands on the diagonal."""
        import pandas

        table = pandas.DataFrame(index=self.methods, columns=self.methods, dtype=float)
        for pair in self.pairs:
            table.loc[pair["a"], pair["b"]] = table.loc[pair["b"], pair["a"]] = pair[measure]["mean"]
        for own in self.ceiling:
            table.loc[own["method"], own["method"]] = own[measure]["mean"]
        return table


def evaluate(model, data, methods=None, metrics=None, *, protocol: str | None = None, targets=None, regions=None,
             labels=None, masks=None, rationales=None, split: str = "test", examples: int = 0, train=None, training=None,
             repeats: int = 3, options: Mapping | None = None, hiding="auto", random: int = 5, reversed: bool = True,
             noisy: int = 10, radius: float = 0.02, background=None, precision: str = "single", seed: int = 0,
             memory_megabytes: int = 1024, keep: str | os.PathLike | None = None, progress=None) -> Evaluation:
    """Which method to believe: each measured by each metric over many inputs.

    model    of `whyformer.load`, or its name or path
    data     a list of texts, pictures or rows, or a DataFrame
    methods  names from `whyformer.methods()`; default: some that fit
    metrics  names from `whyformer.metrics.catalogue()`, or "all"; default: comprehensiveness and sufficiency
    protocol a published evaluation in place of metrics, see `whyformer.protocols()`; "eraser" takes the path of a
             folder as data, with split= and examples=
    labels   for protocols: the right answer of each input
    masks    a picture of each input's object, 0 outside
    rationales  [(start, end), …] of each text, characters that hold the reason
    train    for "roar": train(rows, labels, seed) gives a function from rows to labels; training=(rows, labels) are
             what it is trained on, repeats= how often
    targets  a label or number for each input; default: its highest output
    regions  for each input an array of true and false by unit, or None: what is known to hold the reason
    hiding   how units are hidden, or several ways: "mask", "delete", "drop", "zero"; "grey", "black", "mean", "blur",
             "impute"
    random   random rankings that the baseline is the mean of
    keep     a file of finished inputs: a stopped evaluation goes on from it
    reversed whether the reversed rankings are measured, too: about half of the work
    """
    model = _loaded(model)
    if protocol is not None:
        _native.protocol_columns(protocol)  # refuses names that there are not
    if protocol == "roar":
        return _roar(model, data, methods, labels, train, training, repeats, options, background, seed)
    from_folder = protocol == "eraser" and isinstance(data, (str, os.PathLike))
    if from_folder:
        entries, (inputs, _) = _native.read_eraser(data, split, examples), model._inputs("a text")
    else:
        inputs, _ = model._inputs(data, background=background)
    if not inputs:
        raise InvalidInput("there are no inputs to evaluate on")
    request = _native.EvaluationRequest()
    request.explain = _explain_request(model, inputs, methods, options, precision, seed, memory_megabytes)
    request.protocol = protocol or ""
    if metrics is None:
        metrics = [] if protocol else ("comprehensiveness", "sufficiency")
    request.metrics = _metric_names(metrics)
    request.hidings = [hiding] if isinstance(hiding, str) else list(hiding)
    request.reversed_rankings = bool(reversed)
    request.random_rankings, request.noisy_inputs, request.radius = random, noisy, radius
    if not from_folder:
        entries = _entries(inputs, targets, regions, labels, masks, rationales)
    with Bar("evaluating", progress) as bar:
        return Evaluation(_native.evaluate(model._native, entries, request,
                                           None if keep is None else os.fspath(keep), bar.callback))


def protocols() -> list[dict]:
    """Published evaluations by name: what each measures, and on what."""
    return _native.protocols()


def agree(model, data, methods=None, *, reference: str | None = None, options: Mapping | None = None, top_k: int = 0, persistence: float = 0,
          magnitudes: bool = False, background=None, precision: str = "single", seed: int = 0,
          memory_megabytes: int = 1024, progress=None) -> Agreement:
    """How far methods agree: rank correlations, overlaps and signs, over many inputs.

    methods     names from `whyformer.methods()`, also "METHOD:PRESET"; default: some that fit
    reference   the method that all others are compared with, such as "kernel-shap"; it comes first
    magnitudes  compare |scores|, as for attention, which has no sign
    """
    model = _loaded(model)
    inputs, _ = model._inputs(data, background=background)
    if not inputs:
        raise InvalidInput("there are no inputs to compare methods on")
    if reference is not None:
        others = _native.default_methods(model._native, inputs[0], None) if methods is None else methods
        others = [others] if isinstance(others, str) else list(others)
        methods = [reference, *(name for name in others if name != reference)]
    request = _native.AgreementRequest()
    request.explain = _explain_request(model, inputs, methods, options, precision, seed, memory_megabytes)
    request.top_k, request.persistence, request.magnitudes = top_k, persistence, magnitudes
    with Bar("comparing", progress) as bar:
        return Agreement(_native.agree(model._native, inputs, request, bar.callback))


def _loaded(model):
    from ._loading import load
    from ._model import Model

    return model if isinstance(model, Model) else load(model)


def _explain_request(model, inputs, methods, options, precision, seed, memory_megabytes):
    if methods is None:
        methods = _native.default_methods(model._native, inputs[0], None)
    return explain_request(methods, options, [None], precision=precision, seed=seed, memory_megabytes=memory_megabytes)


def _metric_names(metrics) -> list[str]:
    if metrics == "all":
        return [metric.name for metric in _native.metrics()]
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    return [part.strip().replace("_", "-") for name in names for part in name.split(",")]


def _entries(inputs, targets, regions, labels, masks, rationales) -> list:
    """Inputs with what is known of each."""
    entries = []
    given = zip(inputs, *(_one_each(one, inputs, name) for one, name in
                          ((targets, "targets"), (regions, "regions"), (labels, "labels"), (masks, "masks"),
                           (rationales, "rationales"))))
    for number, (value, target, region, label, mask, rationale) in enumerate(given):
        entries.append(_native.evaluation_entry(
            f"input {number}", value, requested_target(None, target, None, None),
            None if region is None else [bool(unit) for unit in region],
            requested_target(None, label, None, None), None if mask is None else _mask(mask),
            None if rationale is None else [(int(start), int(end)) for start, end in rationale]))
    return entries


def _mask(mask):
    if isinstance(mask, np.ndarray) and mask.dtype == bool:
        mask = mask.astype(np.uint8) * 255
    return pictures([mask], None)[0][0]


def _roar(model, data, methods, labels, train, training, repeats, options, background, seed) -> Evaluation:
    from ._roar import remove_and_retrain

    if train is None or training is None or labels is None:
        raise InvalidInput("roar trains the model again: give train=, training=(rows, labels) and labels=")
    request = _native.EvaluationRequest()
    request.protocol = "roar"
    request.explain = _explain_request(model, model._inputs(data, background=background)[0], methods, options, "single",
                                       seed, 1024)
    names = methods if methods is not None else _native.default_methods(
        model._native, model._inputs(data, background=background)[0][0], None)
    lines = remove_and_retrain(model, data, labels, training, train, names, options=options, background=background,
                               repeats=repeats, seed=seed, random_name="random")
    return Evaluation(_native.summarise_evaluation(model._native, lines, request))


def _one_each(given, inputs, what: str) -> list:
    if given is None:
        return [None] * len(inputs)
    given = list(given)
    if len(given) != len(inputs):
        raise InvalidInput(f"{len(inputs)} inputs, but {len(given)} {what}")
    return given
