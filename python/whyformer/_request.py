"""From what people ask for to what the engine is asked."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import numpy as np

from . import _native
from ._choices import choice
from ._inputs import is_arrays, refuse
from ._native import InvalidInput
from .edits import as_edits


def explain_request(methods, options, targets, *, similar_to=None, read_out=None, hiding_id=None, top=1, words="sum",
                    precision="single", seed=0, memory_megabytes=1024, trust=None, edits=None, by="columns"):
    if by not in ("columns", "rows"):
        raise InvalidInput(f"by={by!r}: a row is explained by its columns, or by the rows of its context")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise InvalidInput(f"seed={seed!r}: give a whole number from 0; results are the same for the same seed")
    request = _native.ExplainRequest()
    for name, values in _requested_methods(methods, options).items():
        request.add_method(name, values)
    request.target, request.other_targets = targets[0], targets[1:]
    request.top = top
    request.similar_to = similar_to
    request.read_out = read_out
    request.hiding_id = hiding_id
    request.fold = choice(_native.WordFold, "words", words)
    request.precision = choice(_native.Precision, "precision", precision)
    request.seed = int(seed)
    request.memory_bytes = memory_megabytes << 20
    request.trust = trust
    request.edits = as_edits(edits)
    request.by_rows = by == "rows"
    return request


def trust_request(trust, model, edits=None):
    """None, the defaults for True, or what a dictionary says; with what the sanity card of an unchanged model says."""
    if trust is None or trust is False:
        return None
    request = _native.TrustRequest()
    names = ("orders", "hiding", "noisy_inputs", "radius")
    for name, value in (trust if isinstance(trust, Mapping) else {}).items():
        if name not in names:
            raise InvalidInput(f"trust has no option {name!r}, only {', '.join(names)}")
        setattr(request, name, value)
    if not edits:
        request.read_sanity_card(model)
    return request


def target_request(target, precision: str = "single"):
    """For what needs a target and no method."""
    request = _native.ExplainRequest()
    request.target = target
    request.precision = choice(_native.Precision, "precision", precision)
    return request


def requested_targets(x, target, output: str | None, element) -> list:
    """One, or a list of several outputs by their labels or numbers."""
    if not isinstance(target, (list, tuple)) or is_arrays(x):
        return [requested_target(x, target, output, element)]
    if not target:
        raise InvalidInput("target=[]: name an output, or leave it out")
    return [requested_target(x, one, output, element) for one in target]


def requested_target(x, target, output: str | None, element):
    """An output by its label or number, of arrays an element of one; None stands for the highest."""
    if not is_arrays(x):
        refuse({"output": output, "element": element}, "goes with arrays: choose an answer with target=")
        return _label_or_number(target)
    refuse({"target": target}, "does not go with arrays: choose an element with output= and element=")
    return _native.OutputElement(output or "", [int(index) for index in element or ()])


def _label_or_number(given):
    if isinstance(given, bool) or not (given is None or isinstance(given, (str, int, np.integer))):
        raise InvalidInput(f"target={given!r}: give a label or the number of an output")
    return int(given) if isinstance(given, np.integer) else given


def _requested_methods(methods, options) -> dict[str, list]:
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
