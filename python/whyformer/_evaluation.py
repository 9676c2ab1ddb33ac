"""Which explanations to believe: methods measured over many inputs, and compared with each other."""

from __future__ import annotations

from collections.abc import Mapping

from . import _native
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


def evaluate(model, data, methods=None, metrics=("comprehensiveness", "sufficiency"), *, targets=None, regions=None,
             options: Mapping | None = None, hiding="auto", random: int = 5, reversed: bool = True, noisy: int = 10,
             radius: float = 0.02, background=None, precision: str = "single", seed: int = 0, memory_megabytes: int = 1024,
             progress=None) -> Evaluation:
    """Which method to believe: each measured by each metric over many inputs.

    model    of `whyformer.load`, or its name or path
    data     a list of texts, pictures or rows, or a DataFrame
    methods  names from `whyformer.methods()`; default: some that fit
    metrics  names from `whyformer.metrics.catalogue()`, or "all"
    targets  a label or number for each input; default: its highest output
    regions  for each input an array of true and false by unit, or None: what is known to hold the reason
    hiding   how units are hidden, or several ways: "mask", "delete", "drop", "zero"; "grey", "black", "mean", "blur"
    random   random rankings that the baseline is the mean of
    reversed whether the reversed rankings are measured, too: about half of the work
    """
    model = _loaded(model)
    inputs, _ = model._inputs(data, background=background)
    if not inputs:
        raise InvalidInput("there are no inputs to evaluate on")
    request = _native.EvaluationRequest()
    request.explain = _explain_request(model, inputs, methods, options, precision, seed, memory_megabytes)
    request.metrics = _metric_names(metrics)
    request.hidings = [hiding] if isinstance(hiding, str) else list(hiding)
    request.reversed_rankings = bool(reversed)
    request.random_rankings, request.noisy_inputs, request.radius = random, noisy, radius
    chosen = [requested_target(None, one, None, None) for one in _one_each(targets, inputs, "targets")]
    known = [None if one is None else [bool(unit) for unit in one] for one in _one_each(regions, inputs, "regions")]
    with Bar("evaluating", progress) as bar:
        return Evaluation(_native.evaluate(model._native, inputs, chosen, known, request, bar.callback))


def agree(model, data, methods=None, *, options: Mapping | None = None, top_k: int = 0, persistence: float = 0.9,
          magnitudes: bool = False, background=None, precision: str = "single", seed: int = 0,
          memory_megabytes: int = 1024, progress=None) -> Agreement:
    """How far methods agree: rank correlations, overlaps and signs, over many inputs."""
    model = _loaded(model)
    inputs, _ = model._inputs(data, background=background)
    if not inputs:
        raise InvalidInput("there are no inputs to compare methods on")
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


def _one_each(given, inputs, what: str) -> list:
    if given is None:
        return [None] * len(inputs)
    given = list(given)
    if len(given) != len(inputs):
        raise InvalidInput(f"{len(inputs)} inputs, but {len(given)} {what}")
    return given
