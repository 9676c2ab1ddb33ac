"""Do explanations depend on the model's weights, and on the class?"""

from __future__ import annotations

from . import _native
from ._native import InvalidInput
from ._progress import Bar
from ._report import Report
from ._request import explain_request, requested_target


class SanityReport(Report):
    """Similarities of explanations before and after weights were replaced, and a verdict for each method."""

    def verdicts(self) -> dict[str, dict[str, str]]:
        """"yes", "partly", "no" or "unknown" for the class and for the weights, by method."""
        return {one["name"]: {"class": one["depends_on_class"], "weights": one["depends_on_weights"]}
                for one in self._dict["methods"]}

    def to_pandas(self):
        """A row for each method and change."""
        import pandas

        rows = []
        for method in self._dict["methods"]:
            for one in method["comparisons"]:
                row = {"method": method["name"], "change": one["change"], "step": one["step"],
                       "inputs": one["inputs"], "identical": one["identical"]}
                for name in ("spearman_of_magnitudes", "spearman_of_scores", "structural_similarity"):
                    row |= {name: one[name]["mean"], name + "_low": one[name]["low"], name + "_high": one[name]["high"]}
                rows.append(row)
        return pandas.DataFrame(rows)

    def keep(self) -> None:
        """Makes it the model's sanity card, in the user's cache."""
        self._native.keep()

    def save(self, path) -> None:
        """Writes .json."""
        if not str(path).endswith(".json"):
            raise InvalidInput(f"cannot write '{path}': the name must end in .json")
        super().save(path)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/plain": str(self)}


def sanity(model, x, methods=None, *, target=None, output: str | None = None, element=None, options=None,
           independent: bool = True, randomised_target: str = "same", pair=None, background=None,
           similar_to: str | None = None, precision: str = "single", seed: int = 0, keep: bool = True,
           progress=None) -> SanityReport:
    """Do explanations depend on the model's weights, and on the class? (Adebayo et al. 2018)

    x                  inputs, as for `model.explain`; a verdict needs five or more
    methods            names from `whyformer.methods()`; default: some that fit the model
    independent        also replace each layer's weights by itself, which doubles the work
    randomised_target  explain the "same" output once weights are random, or the "highest" then
    keep               make the result the model's sanity card, in the user's cache
    """
    inputs, _ = model._inputs(x, pair, background)
    if not inputs:
        raise InvalidInput("there are no inputs to explain")
    if methods is None:
        methods = _native.default_methods(model._native, inputs[0], requested_target(x, target, output, element))
    if randomised_target not in ("same", "highest"):
        raise InvalidInput(f"randomised_target={randomised_target!r}: choose from same, highest")
    request = explain_request(methods, options, [requested_target(x, target, output, element)], similar_to=similar_to,
                              precision=precision, seed=seed)
    with Bar("explanations", progress) as bar:
        report = SanityReport(_native.test_sanity(model._native, inputs, request, independent,
                                                  randomised_target == "highest", bar.callback))
    if keep and not report.stopped_early:
        report.keep()
    return report
