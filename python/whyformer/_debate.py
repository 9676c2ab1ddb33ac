"""Is attention explanation? Both sides of the debate for one model and a corpus."""

from __future__ import annotations

from . import _native
from ._native import InvalidInput
from ._progress import Bar
from ._report import Report


class DebateReport(Report):
    """What each part of the debate says, what it does not show, and the numbers."""

    def answers(self) -> dict[str, str]:
        """What each part says, by its name."""
        return {one["part"]: one["says"] for one in self.verdicts}

    def to_pandas(self):
        """A row per input: its answer, the largest weight, and what changing attention does."""
        import pandas

        rows = []
        for one in self.inputs:
            if one["problem"]:
                continue
            row = {"input": one["name"], "predicted": self.labels[one["predicted"]],
                   "max_attention": one["max_attention"], "entropy": one["entropy"]}
            for permuted in one["permutations"]:
                if permuted["semantics"] == "last-row" and permuted["head"] < 0:
                    row["permutation_tvd"] = permuted["median_tvd"]
            for found in one["adversaries"]:
                if found["scope"] == "joint":
                    row["adversary_jsd"] = found["jsd"][-1]
            for changed in one["uniform"]:
                row["uniform_tvd_" + changed["layers"]] = changed["tvd"]
            rows.append(row)
        return pandas.DataFrame(rows)


def debate(model, x, *, others=(), labels=None, parts=None, special_tokens: str = "stay", permutations: int = 100,
           layer_permutations: int = 10, permute=("last-row", "frozen", "live"),
           scopes=("joint", "heads", "on-uniform"), steps: int = 500, restarts: int = 1, guides=None, lambdas=None, pair=None, precision: str = "single", seed: int = 0,
           progress=None) -> DebateReport:
    """Is attention explanation? (Jain & Wallace 2019, Wiegreffe & Pinter 2019)

    x               inputs, as for `model.explain`
    others          models like this one, trained from other seeds
    labels          the right answer of each input, by name or number
    parts           correlation, permutation, adversary, uniform, seeds, diagnostic, consistent; default: all
    special_tokens  their weights "stay" where attention is changed, or "take part"
    permute         last-row, frozen, frozen-heads, live
    scopes          adversarial searches: joint, heads, on-uniform, rows, layers, all
    """
    inputs, _ = model._inputs(x, pair)
    if not inputs:
        raise InvalidInput("there are no inputs to debate")
    if labels is not None and len(labels) != len(inputs):
        raise InvalidInput(f"{len(inputs)} inputs, but {len(labels)} labels")
    if special_tokens not in ("stay", "take part"):
        raise InvalidInput(f"special_tokens={special_tokens!r}: choose from stay, take part")
    if precision not in ("single", "double"):
        raise InvalidInput(f"precision={precision!r}: choose from single, double")
    examples = [_native.DebateExample(f"input {number}", one, None if labels is None else str(labels[number]))
                for number, one in enumerate(inputs)]
    request = _native.DebateRequest()
    request.parts = list(parts or [])
    request.permutations, request.layer_permutations, request.seed = permutations, layer_permutations, seed
    request.semantics = list(permute)
    request.set_search(list(scopes), steps, restarts)
    if special_tokens == "take part":
        request.set_special_take_part()
    if precision == "double":
        request.set_double()
    if guides is not None:
        request.set_guides(list(guides))
    if lambdas is not None:
        request.set_lambdas(list(lambdas))
    with Bar("inputs", progress) as bar:
        return DebateReport(_native.debate(model._native, [one._native for one in others], examples, request,
                                           bar.callback))
