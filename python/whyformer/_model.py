"""Models, and what they say about inputs."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from . import _inputs, _native
from ._choices import choice
from ._model_summary import ModelSummary
from ._native import InvalidInput
from ._probe import Recording, probe_request
from ._progress import Bar
from ._request import explain_request, requested_target, requested_targets, target_request, trust_request
from ._results import Explanation, Explanations


class Output:
    """What a model answers. `numpy.asarray(output)` gives its values."""

    def __init__(self, everything: _native.Answers, index: int):
        self._everything, self._native = everything, everything.input(index)

    @property
    def values(self) -> np.ndarray:
        return self._native.values

    @property
    def probabilities(self) -> np.ndarray | None:
        """Softmax or sigmoid of the values, where the model is a classifier."""
        found = self._native.probabilities
        return found if len(found) else None

    @property
    def labels(self) -> list[str]:
        return self._everything.labels

    @property
    def space(self) -> str:
        """ "logit", "value", "embedding" or "similarity"."""
        return self._everything.space

    @property
    def label(self) -> str:
        """Of the highest value."""
        return self.labels[int(np.argmax(self.values))]

    @property
    def notes(self) -> list[str]:
        return [*self._everything.notes, *self._native.notes]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index):
        if isinstance(index, str) and index not in self.labels:
            raise KeyError(f"no output {index!r}, only {', '.join(self.labels[:20])}")
        return self.values[self.labels.index(index) if isinstance(index, str) else index]

    def __repr__(self) -> str:
        shown = ", ".join(f"{label} {value:.4g}" for label, value in list(zip(self.labels, self.values))[:6])
        return f"<{self.space}: {_native.printable(shown)}{', …' if len(self) > 6 else ''}>"


class Model:
    """A model that answers and explains. Safe to use from several threads; get one from `whyformer.load`."""

    def __init__(self, native: _native.Model, path: str | None = None, **options):
        # The path and the options load the same model again.
        self._native, self._path, self._options = native, path, options

    @property
    def name(self) -> str:
        return self._native.name.name

    @property
    def architecture(self) -> str:
        return self._native.name.architecture

    @property
    def reads(self) -> str:
        """What the model was made for: "texts", "pictures", "tables"; "arrays" where it takes nothing else."""
        if self._native.reads_pictures:
            return "pictures"
        return "tables" if self._native.reads_tables else "texts" if self._native.reads_texts else "arrays"

    @property
    def outputs(self) -> list[str]:
        """Names of an ONNX file's outputs."""
        return self._native.outputs

    def __reduce__(self):
        if self._path is None:
            raise TypeError("a model that was handed over in memory cannot be stored or sent: load it where it is used")
        from ._loading import load

        return functools.partial(load, **self._options), (self._path,)

    def __repr__(self) -> str:
        architecture = f" ({_native.printable(self.architecture)})" if self.architecture else ""
        return f"<model {self.name!r}{architecture}, reads {self.reads}>"

    def _inputs(self, x, pair=None, background=None, weights=None):
        """Inputs as the engine takes them, and whether there is just one."""
        x = _inputs.with_rows(x, self._native)
        if _inputs.is_arrays(x):
            _inputs.refuse({"pair": pair, "background": background, "background_weights": weights},
                           "does not go with arrays")
            return [_inputs.array_input(x)], True
        if self._native.reads_pictures:
            return _inputs.pictures(x, pair)
        if self._native.reads_tables:
            return _inputs.rows(x, background, weights, model=self._native)
        if not self._native.reads_texts and not isinstance(x, str):
            raise InvalidInput("this model reads arrays: give a dictionary of them by the names of its inputs")
        return _inputs.texts(x, pair)

    def _input(self, x, pair=None):
        inputs, single = self._inputs(x, pair)
        if not single:
            raise InvalidInput("attention maps and relevance are of one input at a time")
        return inputs[0]

    def __call__(self, x, *, pair: str | None = None, similar_to: str | None = None, precision: str = "single",
                 progress=None):
        """What the model answers: an Output, or a list of them for several inputs; of arrays every output by name."""
        x = _inputs.with_rows(x, self._native)
        if _inputs.is_arrays(x):
            _inputs.refuse({"pair": pair, "similar_to": similar_to}, "does not go with arrays")
            return self.run(x)
        if self._native.reads_tables:
            inputs, single = _inputs.named_table(x, self._native), _inputs.is_one_row(x)
        else:
            inputs, single = self._inputs(x, pair)
        request = _native.AnswersRequest()
        request.similar_to = similar_to
        request.precision = choice(_native.Precision, "precision", precision)
        if isinstance(inputs, list) and not inputs:
            return []
        with Bar("answers", progress) as bar:
            found = _native.answers(self._native, inputs, request, bar.callback)
        outputs = [Output(found, index) for index in range(len(found))]
        return outputs[0] if single else outputs

    def run(self, arrays: Mapping) -> dict[str, np.ndarray]:
        """Every output of an ONNX file by name, for arrays by the names of its inputs; masks may be left out."""
        return self._native.run(_inputs.array_input(arrays))

    def explain(self, x, methods=None, *, target=None, output: str | None = None, element=None,
                options: Mapping | None = None, pair: str | None = None, background=None, background_weights=None,
                similar_to: str | None = None, read_out=None, hiding_id: int | None = None, top: int = 1,
                words: str = "sum", precision: str = "single", seed: int = 0, memory_megabytes: int = 1024,
                trust: bool | Mapping = False, edits=None, by: str = "columns", progress=None):
        """Why this answer?

        x                a text, (text, second text), picture (path, PIL image, array) or row; a list of them, a
                         DataFrame; of an ONNX file also a dictionary of arrays by the names of its inputs
        methods          names from `whyformer.methods()`, such as ["gae", "rollout"]; default: some that fit the input
        target           label or number of the output to explain (default: the highest); for pictures also a list
        output, element  of arrays: the output by its name, and an index per axis; default: the largest of the logits
        hiding_id        of arrays: the token that stands in for hidden ones
        options          of methods: {"rollout": {"start": 1}}, or {"start": 1} where there is one method
        trust            True, or {"orders": 39, "hiding": "auto", …}: how far each method can be trusted, as
                         result["gae"].trust
        edits            changes of values inside the model, from `whyformer.edits`: the changed model is explained
        by               "rows": which rows of its context count, of a row of a model whose rows attend to each other
        progress         True, False, or a function (done, total); default: a bar on terminals

        Gives an Explanation, or Explanations for several inputs or targets.
        """
        x = _inputs.with_rows(x, self._native)
        inputs, single = self._inputs(x, pair, background, background_weights)
        if not inputs:
            return Explanations([])
        targets = requested_targets(x, target, output, element)
        if not _inputs.is_arrays(x):
            _inputs.refuse({"hiding_id": hiding_id}, "goes with arrays: texts have their tokenizer's mask token")
        if (len(targets) > 1 or top > 1) and not self._native.reads_pictures:
            raise InvalidInput("a text or a row is explained for one target at a time")
        if methods is None:
            methods = (_native.default_methods_by_rows() if by == "rows"
                       else _native.default_methods(self._native, inputs[0], targets[0]))
        request = explain_request(methods, options, targets, similar_to=similar_to, read_out=read_out,
                                  hiding_id=hiding_id, top=top, words=words, precision=precision, seed=seed,
                                  memory_megabytes=memory_megabytes, trust=trust_request(trust, self._native, edits),
                                  edits=edits, by=by)
        with Bar("explaining", progress) as bar:
            found = self._explained(inputs, request, bar)
        results = [Explanation(one) for one in found]
        index = getattr(x, "index", None) if hasattr(x, "columns") else None
        return results[0] if single and len(results) == 1 else Explanations(results, index)

    def _explained(self, inputs: list, request, bar: Bar) -> list:
        """An explanation for each input and target."""
        if len(inputs) == 1:
            return _native.explain(self._native, inputs[0], request, bar.callback)
        stopped = False

        def watch(done: int, total: int):
            nonlocal stopped
            stopped = stopped or bar.show(done, total) is False
            return not stopped

        # Rows of a table run together.
        each = _native.explain_each(self._native, inputs, request, watch)
        while len(each) < len(inputs) and not stopped:
            # The refusal that names the input.
            each.append(_inputs.numbered(len(each), _native.explain, self._native, inputs[len(each)], request, None))
            each += _native.explain_each(self._native, inputs[len(each):], request, watch)
        return [explanation for one in each for explanation in one]

    def probe(self, x, read=(), *, edits=None, gradients=(), gradient_of: str | None = None, relevance=(),
              policy: str = "chefer", copies: int = 1, target=None, output: str | None = None, element=None,
              pair: str | None = None, background=None, similar_to: str | None = None, precision: str = "single",
              most_megabytes: int = 4096, progress=None) -> Recording:
        """Values inside the model for one input, with some of them changed.

        read         names or patterns, such as "blocks.*.output token=0" or "logits reduce=topk:3"; see `values`
        edits        changes from `whyformer.edits`, or texts such as "zero blocks.3.attention.context head=5"
        gradients    values whose gradient of the target is read, or of the sum of `gradient_of`
        relevance    values whose relevance is read, by `policy`
        copies       of the input, for edits that name places along the axis "batch"
        """
        inputs, single = self._inputs(x, pair, background)
        if not single:
            raise InvalidInput("values are read of one input at a time")
        request = probe_request(read, edits, gradients, gradient_of, relevance, policy, copies,
                                requested_target(x, target, output, element), similar_to, precision, most_megabytes)
        with Bar("probing", progress) as bar:
            return Recording(_native.probe(self._native, inputs[0], request, bar.callback))

    def patch(self, clean, corrupted=None, *, kinds=None, noise=None, ablate: str | None = None, lens: bool = False,
              path=None, target=None, against=None, metric: str = "logit", preview: bool = True,
              exact_share: float = 1.0, precision: str = "single", seed: int = 0, memory_megabytes: int = 1024,
              progress=None):
        """Which values inside the model carry its answer for `clean`: `report["residual"].effects`.

        corrupted    an input with another answer: values of the clean run are put into its run
        kinds        residual (default), attention, mlp, heads, head-tokens, pattern
        exact_share  of the cells that are run, those with the largest first-order estimates
        noise        instead: causal tracing with noise on these tokens, or {"tokens": …, "scale": 3, "draws": 10,
                     "window": 1}
        ablate       instead: without each head, its context "zero" or "mean"
        lens         instead: the answer behind each layer
        path         path patching between both inputs: "output", or ("query", layer, head), also key and value
        metric       logit, probability, log-odds or loss; `against`: less that of another output
        """
        from ._patching import patch

        return patch(self, clean, corrupted, noise, ablate, lens, path, progress, kinds=kinds, target=target,
                     against=against, metric=metric, preview=preview, exact_share=exact_share, precision=precision,
                     seed=seed, memory_megabytes=memory_megabytes)

    def values(self, pattern: str = "**", x=None, *, pair: str | None = None) -> list:
        """Values inside the model whose names match, for an input or a small one: * stands for any letters but a
        dot, ** for any letters."""
        inputs = [None] if x is None else self._inputs(x, pair)[0]
        return _native.values_inside(self._native, inputs[0], pattern)

    def trace(self, x, target=None, *, output: str | None = None, element=None, pair: str | None = None):
        """Attention maps and their gradients of one input; of arrays also all outputs and gradients, as `arrays`."""
        request = target_request(requested_target(x, target, output, element))
        return _native.trace(self._native, self._input(x, pair), request)

    def attention(self, x, *, pair: str | None = None) -> list[np.ndarray]:
        """Attention maps [heads, queries, keys] of every layer; not copied."""
        return [layer.values for layer in _native.attention(self._native, self._input(x, pair))]

    def attention_gradients(self, x, target=None, *, output: str | None = None, element=None,
                            pair: str | None = None) -> list[np.ndarray]:
        """Gradients of the target's logit with respect to the attention maps; not copied."""
        found = self.trace(x, target, output=output, element=element, pair=pair)
        return [layer.values for layer in found.attention_gradient]

    def inspect(self, arrays: Mapping | None = None):
        """What was found in the model: attention, streams, read-out; where arrays are given, for their lengths."""
        if arrays is not None:
            return ModelSummary(self._native.inspect(_inputs.array_input(arrays)))
        if self._native.reads_tables and self._path is not None:
            # A file tells how many columns there are.
            return ModelSummary(_native.inspect(self._path))
        return ModelSummary(self._native.inspect())

    def tokenize(self, x, *, pair: str | None = None):
        """Tokens of a text with ids and offsets; no limit on the length."""
        return self._native.tokenize(_inputs.text_input(x, pair))

    def among(self, texts: list[str]) -> Model:
        """The model as a classifier among texts, for those that compare pictures with texts (CLIP)."""
        return Model(self._native.among(list(texts)))

    def relevance(self, x, policy: str = "chefer", target=None, *, precision: str = "single"):
        """Relevance that enters and leaves every operator; policies: `relevance_policies()`, or a file."""
        request = target_request(requested_target(x, target, None, None), precision)
        return _native.relevance_report(self._native, self._input(x), policy, request)

    def heads(self, texts=None, labels=None, *, measures=None, prune: bool | Mapping = False,
              roles: bool | Mapping = False, conllu=None, normalise: bool = True, all_tokens: bool = False,
              attention_constant: bool = False, precision: str = "single", progress=None):
        """How much each attention head matters over texts (or a list of pictures), and what it attends to.

        measures  default: michel and confidence; none with roles
        roles     True or options: share, permutations, level, seed, min_tokens
        conllu    a file of sentences with dependency trees, instead of texts: roles, and heads that find arcs
        """
        from ._importance import head_importance

        return head_importance(self, texts, labels, measures, prune, roles, conllu, normalise, all_tokens,
                               attention_constant, precision, progress)

    def learned(self, inputs=None, labels=None, *, words=None, layers=None, tokens: str = "mean", probe: str = "ridge",
                strength: float = 1.0, held_out: float = 0.25, shuffles: int = 20, random_weights: bool = True,
                max_rows: int = 4000, seed: int = 0, precision: str = "single", progress=None):
        """What each layer knows: linear probes of labels, with their controls.

        inputs, labels  texts (or pictures) with a label each
        words           instead: a file with a word and its label on each line, a blank line behind each sentence
        """
        from ._learned import learned

        return learned(self, inputs, labels, words, layers, tokens, probe, strength, held_out, shuffles, random_weights,
                       max_rows, seed, precision, progress)

    def importance(self, table, answers, **options):
        """Which columns of a table the model needs: method="permutation" or "sage"."""
        from ._importance import column_importance

        return column_importance(self, table, answers, **options)

    def compare_importances(self, table, answers, methods=None, **options):
        """Importances side by side: of methods that explain each row, of permutation and of SAGE."""
        from ._importance import compared_importances

        return compared_importances(self, table, answers, methods, **options)
