"""Models, and what they say about inputs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _inputs, _native
from ._choices import choice
from ._native import InvalidInput
from ._progress import Bar
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

    def __init__(self, native: _native.Model, path: str | None = None, output: str | None = None):
        self._native, self._path, self._output = native, path, output

    @property
    def name(self) -> str:
        return self._native.name.name

    @property
    def architecture(self) -> str:
        return self._native.name.architecture

    @property
    def reads(self) -> str:
        """ "texts", "pictures" or "tables"."""
        return "pictures" if self._native.reads_pictures else "tables" if self._native.reads_tables else "texts"

    def __reduce__(self):
        if self._path is None:
            raise TypeError("a model that was handed over in memory cannot be stored or sent: load it where it is used")
        from ._loading import load

        return functools.partial(load, output=self._output), (self._path,)

    def __repr__(self) -> str:
        return f"<model {self.name!r} ({_native.printable(self.architecture)}), reads {self.reads}>"

    def _inputs(self, x, pair=None, background=None, weights=None):
        if self._native.reads_pictures:
            return _inputs.pictures(x, pair)
        if self._native.reads_tables:
            return _inputs.rows(x, background, weights)
        return _inputs.texts(x, pair)

    def __call__(self, x, *, pair: str | None = None, similar_to: str | None = None, precision: str = "single",
                 progress=None):
        """What the model answers: an Output, or a list of them for several inputs."""
        if self._native.reads_tables:
            inputs, single = _inputs.named_table(x), _inputs.is_one_row(x)
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

    def explain(self, x, methods=None, *, target=None, options: Mapping | None = None, pair: str | None = None,
                background=None, background_weights=None, similar_to: str | None = None, read_out=None, top: int = 1,
                words: str = "sum", precision: str = "single", seed: int = 0, memory_megabytes: int = 1024,
                progress=None):
        """Why this answer?

        x         a text, (text, second text), picture (path, PIL image, array) or row; a list of them, a DataFrame
        methods   names from `whyformer.methods()`, such as ["gae", "rollout"]; default: a choice that fits the input
        target    label or number of the output to explain (default: the highest); for pictures also a list
        options   of methods: {"rollout": {"start": 1}}, or {"start": 1} where there is one method
        progress  True, False, or a function (done, total); default: a bar on terminals

        Gives an Explanation, or Explanations for several inputs or targets.
        """
        inputs, single = self._inputs(x, pair, background, background_weights)
        if methods is None:
            methods = self._usual_methods(inputs)
        request = self._request(methods, target, options, similar_to, read_out, top, words, precision, seed,
                                memory_megabytes)
        with Bar("explaining", progress) as bar:
            if len(inputs) == 1:
                found = [_native.explain(self._native, inputs[0], request, bar.callback)]
            else:
                found = []
                for index, one in enumerate(inputs):
                    found.append(_inputs.numbered(index, _native.explain, self._native, one, request, None))
                    if bar.show(index + 1, len(inputs)) is False:
                        break
        # A picture has an explanation for each target.
        flat = [one for part in found for one in (part if isinstance(part, list) else [part])]
        results = [Explanation(one) for one in flat]
        return results[0] if single and len(results) == 1 else Explanations(results)

    def _usual_methods(self, inputs) -> list[str]:
        if not self._native.reads_tables:
            return _native.usual_methods(self._native)
        # They depend on the row and its background.
        return _native.usual_methods(self._native, inputs[0]) if inputs else ["gae"]

    def _request(self, methods, target, options, similar_to=None, read_out=None, top=1, words="sum",
                 precision="single", seed=0, memory_megabytes=1024):
        request = _native.ExplainRequest()
        for name, values in requested_methods(methods, options).items():
            request.add_method(name, values)
        targets = list(target) if isinstance(target, (list, tuple)) else [target]
        targets = [_target(one) for one in targets]
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
            raise InvalidInput(f"seed={seed!r}: give a whole number from 0; results are the same for the same seed")
        if not targets:
            raise InvalidInput("target=[]: name an output, or leave it out")
        if len(targets) > 1 and not self._native.reads_pictures:
            raise InvalidInput("a text or a row is explained for one target at a time")
        request.target, request.other_targets = targets[0], targets[1:]
        request.top = top
        request.similar_to = similar_to
        request.read_out = read_out
        request.fold = choice(_native.WordFold, "words", words)
        request.precision = choice(_native.Precision, "precision", precision)
        request.seed = int(seed)
        request.memory_bytes = memory_megabytes << 20
        return request

    def trace(self, x, target=None, *, pair: str | None = None):
        """Attention maps and their gradients of one input, as the engine keeps them."""
        inputs, single = self._inputs(x, pair)
        if not single:
            raise InvalidInput("attention maps are of one input at a time")
        request = _native.ExplainRequest()
        request.target = _target(target)
        return _native.trace(self._native, inputs[0], request)

    def attention(self, x, *, pair: str | None = None) -> list[np.ndarray]:
        """Attention maps [heads, queries, keys] of every layer; not copied."""
        # The maps are the same for every target.
        return [layer.values for layer in self.trace(x, 0, pair=pair).attention]

    def attention_gradients(self, x, target=None, *, pair: str | None = None) -> list[np.ndarray]:
        """Gradients of the target's logit with respect to the attention maps; not copied."""
        return [layer.values for layer in self.trace(x, target, pair=pair).attention_gradient]

    def inspect(self):
        """What was found in the model: attention, streams, read-out."""
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
        """What relevance enters and leaves every operator on its way back; policies: `relevance_policies()`, or a file."""
        request = _native.ExplainRequest()
        request.target = _target(target)
        request.precision = choice(_native.Precision, "precision", precision)
        return _native.relevance_report(self._native, _inputs.text_input(x), policy, request)

    def heads(self, texts, labels=None, *, measures=("michel", "confidence"), prune: bool | Mapping = False,
              normalise: bool = True, all_tokens: bool = False, attention_constant: bool = False,
              precision: str = "single", progress=None):
        """How much each attention head matters over texts (or a list of pictures), and what pruning does."""
        from ._importance import head_importance

        return head_importance(self, texts, labels, measures, prune, normalise, all_tokens, attention_constant,
                               precision, progress)

    def importance(self, table, answers, **options):
        """Which columns of a table the model needs: method="permutation" or "sage"."""
        from ._importance import column_importance

        return column_importance(self, table, answers, **options)


class ModelSummary:
    """What was found in a model; attributes as in the command `whyformer inspect --json`."""

    def __init__(self, native: _native.ModelInfo):
        self._native = native

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copies ask for these before there is anything
            raise AttributeError(name)
        return getattr(self._native, name)

    def __dir__(self):
        return [name for name in dir(self._native) if not name.startswith("_")]

    def save(self, path) -> None:
        """Writes .html, .svg or .png, as the name ends."""
        from ._results import ending_of, picture_format

        if ending_of(path) == ".html":
            _native.save(path, _native.model_html(self._native).encode())
        else:
            _native.save(path, _native.model_picture(self._native, picture_format(path)))

    def __repr__(self) -> str:
        info = self._native
        # Files may say neither their architecture nor their task.
        name = f"{info.model.name} ({info.model.architecture})" if info.model.architecture else info.model.name
        lines = [name, *([f"  task       {info.task}"] if info.task else []),
                 f"  parameters {info.parameters:,}", f"  read-out   {info.read_out}"]
        for index, stream in enumerate(info.streams):
            lines.append(f"  stream {index}   {stream.tokens} × {stream.units}")
        for index, site in enumerate(info.sites):
            lines.append(f"  site {index:<5} {site.kind}, {site.heads} heads, {site.name}")
        lines += [f"  note: {note}" for note in info.notes]
        return "\n".join(_native.printable(line) for line in lines)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        from ._display import picture_bundle

        return picture_bundle(repr(self), _native.model_picture(self._native, _native.PictureFormat.png))


def _target(given):
    """None, a label or a number."""
    if isinstance(given, bool) or not (given is None or isinstance(given, (str, int, np.integer))):
        raise InvalidInput(f"target={given!r}: give a label or the number of an output")
    return int(given) if isinstance(given, np.integer) else given


def requested_methods(methods, options) -> dict[str, list]:
    """Names of methods with their options."""
    names = [methods] if isinstance(methods, str) else list(methods) if isinstance(methods, Iterable) else [methods]
    for name in names:
        if not isinstance(name, str):
            raise InvalidInput(f"methods={methods!r}: give names of methods, such as ['gae', 'rollout']")
    if options is not None and not isinstance(options, Mapping):
        raise InvalidInput(f"options={options!r}: give a dictionary, such as {{'rollout': {{'start': 1}}}}")
    names = [part.strip().replace("_", "-") for name in names for part in name.split(",")]
    if not names:
        raise InvalidInput("no method: give some of whyformer.methods(), such as methods=['gae']")
    return _options_by_method(names, options or {})


def _options_by_method(names: list[str], options: Mapping) -> dict[str, list]:
    """Options in the catalogue's types, for each method in the order asked for."""
    given: dict[str, dict] = {name: {} for name in names}
    for key, value in options.items():
        if isinstance(value, Mapping):
            method, values = key.replace("_", "-"), value
        elif "." in key:
            method, _, option = key.partition(".")
            method, values = method.replace("_", "-"), {option: value}
        elif len(names) == 1:
            method, values = names[0], {key: value}
        else:
            raise InvalidInput(f"option {key!r}: say of which method, such as options={{{names[0]!r}: {{{key!r}: …}}}}")
        if method not in given:
            raise InvalidInput(f"options of {method!r}, which is not among methods={names}")
        given[method].update(values)
    result = {}
    for name, values in given.items():
        result[name] = [setting for option, value in values.items()
                        for setting in _native.parse_option(name, f"{_option_name(name, option)}="
                                                                  f"{_option_text(value)}")]
    return result


@functools.lru_cache(maxsize=None)
def _options_of_methods() -> dict[str, set[str]]:
    return {method.name: {option.name for option in method.options} for method in _native.methods()}


def _option_name(method: str, name: str) -> str:
    return name if name in _options_of_methods().get(method, ()) else name.replace("_", "-")


def _option_text(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
