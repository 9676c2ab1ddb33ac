#!/usr/bin/env python3
"""Writes tests/golden/relevance: what relevance propagation says about tiny random networks.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, safetensors 0.8.0:

    pip install torch==2.15.0 transformers==5.22.2 safetensors==0.8.0
    python scripts/golden/relevance_golden.py

Text networks and their inputs come from tests/golden/models, image networks are drawn here with the
seeds below. Everything is computed from formulas in float64: the forward pass in
relevance_network.py, the rules of relevance in relevance_rules.py, decompositions in
relevance_norms.py, heads in relevance_heads.py. Autograd serves only where a method is a gradient.
tests/golden/relevance/README.md tells what each tensor is.
"""

import argparse
import json
import pathlib

import torch
import transformers
from safetensors.torch import load_file, save_file

from relevance_heads import check_heads, head_scores
from relevance_network import (READOUT, AttnLrp, CpLrp, CpLrpDerivative, attention_gradients,
                               embed_image, embed_text, explained_sum, forward, image_network,
                               image_tokens, text_network, without_biases, word_vectors)
from relevance_norms import (check_decompx, check_vectors, decompx_scores, norm_scores,
                             row_of_product)
from relevance_precision import float32_deviations, in_float32
from relevance_rules import (AlphaBeta, AttnLrpExplicit, Chefer, Epsilon, Gamma, Original,
                             pixels_by_z_bound, propagate)

TEXT_CASES = {  # case: inputs beyond the single samples without padding
    "bert": ("padded", "batch"), "bert-relu": (), "roberta": (), "albert-shared": (),
    "distilbert": (), "electra": (),
}
# Seeds were chosen, not drawn: of 30 tried, one each where float32 moves no tensor by more than
# 1e-4 of its largest value and the rescaling of the Add rule changes something for both targets.
IMAGE_CASES = {
    "vit-a": {"seed": 427, "image_size": [8, 8], "num_hidden_layers": 3, "hidden_act": "gelu",
              "qkv_bias": True},
    "vit-b": {"seed": 426, "image_size": [12, 8], "num_hidden_layers": 2, "hidden_act": "relu",
              "qkv_bias": False},
}
IMAGE_CONFIG = {"num_channels": 3, "patch_size": 4, "hidden_size": 24, "num_attention_heads": 3,
                "intermediate_size": 48, "num_labels": 4, "layer_norm_eps": 1e-6}
ILL_CONDITIONED = 1e-3  # float32 deviation beyond which a tensor is listed as such
CHAINS = {"attn-lrp": AttnLrp, "cp-lrp": CpLrp, "cp-lrp-derivative": CpLrpDerivative}


# ---------------------------------------------------------------------------------------------
# Scores made of relevance and gradients at the attention maps


def identity_plus(matrix):
    return matrix + torch.eye(matrix.shape[-1], dtype=matrix.dtype)


def row_of_factors(matrices):
    return row_of_product([identity_plus(matrix) for matrix in matrices])


def positive_head_mean(maps):
    return maps.clamp(min=0).mean(1)


def row_with(matrix, own_entry):
    row = matrix[:, READOUT].clone()
    row[:, READOUT] = own_entry
    return row


def last_layer_row_normalised(last):
    factor = identity_plus(last)
    factor = factor / factor.sum(-1, keepdim=True)
    return row_with(factor, factor[:, READOUT].min(-1).values)


def attention_scores(run, gradients, chefer, original):
    weighted = [positive_head_mean(g * r) for g, r in zip(gradients, chefer.attention)]
    relevance = [positive_head_mean(r) for r in chefer.attention]
    with_attention = [positive_head_mean(step.attention * r)
                      for step, r in zip(run.layers, chefer.attention)]
    name = "transformer-attribution"
    return {
        name: row_of_factors(weighted),
        f"{name}.cvpr-vit": row_of_factors(weighted[1:]),
        f"{name}.cvpr-bert": last_layer_row_normalised(weighted[-1]),
        f"{name}.last-block": weighted[-1][:, READOUT],
        f"{name}.second-block": weighted[1][:, READOUT],
        f"{name}.relevance-only": row_of_factors(relevance),
        f"{name}.attention-times-relevance": row_of_factors(with_attention),
        "partial-lrp": row_with(positive_head_mean(original.attention[-1]), 0),
    }


# ---------------------------------------------------------------------------------------------
# Scores by rules and by gradient x input


def explicit_scores(network, run, targets):
    """Rule sets read at the encoder input, summed over its width."""
    sets = {"attn-lrp-explicit": AttnLrpExplicit(), "gamma": Gamma(), "epsilon": Epsilon(),
            "alpha-beta": AlphaBeta()}
    return {f"{name}.embeddings": propagate(network, run, targets, rules).embeddings.sum(-1)
            for name, rules in sets.items()}


def leaf(x):
    return x.detach().clone().requires_grad_(True)


def gradient_times_input(network, source, embed, mask, targets, chain):
    """At the source (word vectors or pixels) and at the encoder input, element by element."""
    source = leaf(source)
    x = embed(source, chain)
    run = forward(network, x, mask, chain)
    at_source, at_x = torch.autograd.grad(explained_sum(run, targets), [source, x])
    return (source * at_source).detach(), (x * at_x).detach()


def relevance_scores(network, x, mask, targets, notes):
    """Everything but gradient x input; `notes` counts the Adds that the rescaling changes."""
    run = forward(network, x, mask)
    gradients = attention_gradients(network, x, mask, targets)
    rules = Chefer()
    chefer = propagate(network, run, targets, rules)
    original = propagate(network, run, targets, Original())
    notes.append(rules.sums_of_opposite_sign)
    scores = {}
    for name, found in (("chefer", chefer), ("lrp-orig", original)):
        scores |= {f"{name}.attention.{layer}": maps for layer, maps in enumerate(found.attention)}
        scores[f"{name}.embeddings"] = found.embeddings
    scores |= attention_scores(run, gradients, chefer, original)
    return scores | explicit_scores(network, run, targets) | decompx_scores(network, run, targets)


# ---------------------------------------------------------------------------------------------
# Checks


def as_it_is(x, _chain):
    """The encoder input is its own source."""
    return x.clone()


def check_relevance(network, x, mask, targets):
    """Conservation, and agreement of the two forms of AttnLRP."""
    run = forward(network, x, mask)
    for relevance in propagate(network, run, targets, Chefer()).boundaries:
        totals, sizes = relevance.sum((1, 2)), relevance.abs().sum((1, 2))
        gap = ((totals - 1).abs() / sizes.clamp(min=1)).max().item()
        assert gap < 1e-7, f"relevance is not conserved: {totals.tolist()}"
    explicit = propagate(network, run, targets, AttnLrpExplicit()).embeddings
    _, by_gradient = gradient_times_input(network, x, as_it_is, mask, targets, AttnLrp)
    gap = ((explicit - by_gradient).abs().max() / explicit.abs().max()).item()
    assert gap < 1e-7, f"the forms of AttnLRP differ by {gap}"


def check_cp_total(network, x, mask, targets):
    bare = without_biases(network)
    logits = forward(bare, x, mask).logits
    _, relevance = gradient_times_input(bare, x, as_it_is, mask, targets, CpLrp)
    wanted = torch.stack([row[target] for row, target in zip(logits, targets)])
    torch.testing.assert_close(relevance.sum((1, 2)), wanted, rtol=1e-9, atol=1e-9)


def check_run(network, x, mask, target_lists):
    run = forward(network, x, mask)
    check_vectors(network, run)
    check_decompx(network, run)
    for targets in target_lists:
        check_relevance(network, x, mask, targets)
        check_cp_total(network, x, mask, targets)


# ---------------------------------------------------------------------------------------------
# Text


def with_other_class(targets, classes):
    """The targets of the input, and for every sample the class after it."""
    return [targets, [(target + 1) % classes for target in targets]]


def target_name(targets):
    return "-".join(map(str, targets))


def text_inputs(folder, extra):
    listed = json.loads((folder / "expected.json").read_text())["inputs"]
    plain = [entry for entry in listed
             if len(entry["ids"]) == 1 and 0 not in entry["attention_mask"][0]]
    return plain, plain + [entry for entry in listed if entry["name"] in extra]


def encoder_input(network, example):
    x = embed_text(network, word_vectors(network, example), example)
    return x, torch.tensor(example["attention_mask"]).bool()


def corpus_of(network, examples):
    return [(*encoder_input(network, example), example["targets"][0], example["special"][0])
            for example in examples]


def text_gradient_scores(network, example, mask, targets):
    def embed(words, chain):
        return embed_text(network, words, example, chain)

    words, scores = word_vectors(network, example), {}
    for name, chain in CHAINS.items():
        at_words, at_x = gradient_times_input(network, words, embed, mask, targets, chain)
        scores[f"{name}.embeddings"] = at_x.sum(-1)
        if chain is not CpLrpDerivative:
            scores[f"{name}.word_embeddings"] = at_words.sum(-1)
    return scores


def text_case(case, models, dtype, notes):
    """All tensors of a case in one precision."""
    folder = models / case
    network = text_network(folder, dtype)
    plain, examples = text_inputs(folder, TEXT_CASES[case])
    classes, values = len(network.head[-1][0].weight), {}
    for example in examples:
        x, mask = encoder_input(network, example)
        values |= {f"{example['name']}.{what}": score for what, score in
                   norm_scores(network, forward(network, x, mask)).items()}
        for targets in with_other_class(example["targets"], classes):
            place = f"{example['name']}.{target_name(targets)}"
            found = relevance_scores(network, x, mask, targets, notes.setdefault(place, []))
            found["lrp"] = found["lrp-orig.embeddings"].sum(-1)
            found["lrp"][:, READOUT] = 0
            found |= text_gradient_scores(network, example, mask, targets)
            values |= {f"{place}.{what}": score for what, score in found.items()}
    values |= head_scores(network, corpus_of(network, plain))
    return values, [example["name"] for example in plain]


def check_text_case(case, models):
    folder = models / case
    network = text_network(folder, torch.float64)
    expected = load_file(folder / "expected.safetensors")
    plain, examples = text_inputs(folder, TEXT_CASES[case])
    classes = len(network.head[-1][0].weight)
    for example in examples:
        name, (x, mask) = example["name"], encoder_input(network, example)
        logits = expected[f"{name}.logits"].reshape(len(x), -1)
        torch.testing.assert_close(forward(network, x, mask).logits, logits, rtol=0, atol=1e-10)
        gradients = attention_gradients(network, x, mask, example["targets"])
        for layer, gradient in enumerate(gradients):
            stored = expected[f"{name}.attention_gradient.{layer}"].reshape(gradient.shape)
            torch.testing.assert_close(gradient, stored, rtol=0, atol=1e-10)
        check_run(network, x, mask, with_other_class(example["targets"], classes))
    check_heads(network, corpus_of(network, plain))


# ---------------------------------------------------------------------------------------------
# Images


def image_weights(config, seed):
    """Float32, wide enough for uneven attention, under the names of ViTForImageClassification."""
    generator = torch.Generator().manual_seed(seed)
    width, inner = config["hidden_size"], config["intermediate_size"]
    height, breadth = (side // config["patch_size"] for side in config["image_size"])
    weights = {}

    def draw(name, shape, spread, centre=0.0):
        weights[name] = centre + spread * torch.randn(shape, generator=generator)

    def linear(name, outputs, inputs, spread, bias=True):
        draw(f"{name}.weight", (outputs, inputs), spread)
        if bias:
            draw(f"{name}.bias", (outputs,), 0.2)

    def norm(name):
        draw(f"{name}.weight", (width,), 0.2, 1.0)
        draw(f"{name}.bias", (width,), 0.2)

    place, patch = "vit.embeddings.", config["patch_size"]
    draw(place + "cls_token", (1, 1, width), 0.5)
    draw(place + "position_embeddings", (1, 1 + height * breadth, width), 0.5)
    draw(place + "patch_embeddings.projection.weight",
         (width, config["num_channels"], patch, patch), 0.15)
    draw(place + "patch_embeddings.projection.bias", (width,), 0.2)
    for layer in range(config["num_hidden_layers"]):
        place = f"vit.encoder.layer.{layer}."
        norm(place + "layernorm_before")
        for part, spread in (("query", 0.4), ("key", 0.4), ("value", 0.3)):
            linear(f"{place}attention.attention.{part}", width, width, spread, config["qkv_bias"])
        linear(place + "attention.output.dense", width, width, 0.3)
        norm(place + "layernorm_after")
        linear(place + "intermediate.dense", inner, width, 0.3)
        linear(place + "output.dense", width, inner, 0.3)
    norm("vit.layernorm")
    linear("classifier", config["num_labels"], width, 0.3)
    pixels = torch.randn((1, config["num_channels"], *config["image_size"]), generator=generator)
    return weights, pixels


def image_gradient_scores(network, image, mask, targets):
    def embed(pixels, _chain):
        return embed_image(network, pixels)

    scores = {}
    for name, chain in CHAINS.items():
        at_pixels, at_x = gradient_times_input(network, image, embed, mask, targets, chain)
        scores[f"{name}.embeddings"] = at_x.sum(-1)
        if chain is not CpLrpDerivative:
            scores[f"{name}.pixels"] = at_pixels.sum(1)[0]
    return scores


def image_case(config, weights, pixels, target_lists, dtype, notes):
    network, image = image_network(weights, config, dtype), pixels.to(dtype)
    x = embed_image(network, image)
    mask = torch.ones(x.shape[:2], dtype=torch.bool)
    run = forward(network, x, mask)
    values = {"image.logits": run.logits}
    values |= {f"image.attention.{layer}": step.attention for layer, step in enumerate(run.layers)}
    values |= {f"image.{what}": score for what, score in norm_scores(network, run).items()}
    for targets in target_lists:
        place = f"image.{target_name(targets)}"
        found = relevance_scores(network, x, mask, targets, notes.setdefault(place, []))
        for layer, gradient in enumerate(attention_gradients(network, x, mask, targets)):
            found[f"attention_gradient.{layer}"] = gradient
        found["lrp.pixels"] = pixels_by_z_bound(network, image, image_tokens(network, image),
                                                found["lrp-orig.embeddings"])[0]
        found |= image_gradient_scores(network, image, mask, targets)
        values |= {f"{place}.{what}": score for what, score in found.items()}
    return values


NAMES_IN_FILES = {  # of the modules of transformers 5, whose files keep the older names
    "vit.layers.": "vit.encoder.layer.", "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key", "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense", "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}


def name_in_file(name):
    for module, stored in NAMES_IN_FILES.items():
        name = name.replace(module, stored)
    return name


def check_image_case(config, weights, pixels, target_lists):
    network = image_network(weights, config, torch.float64)
    x = embed_image(network, pixels.double())
    mask = torch.ones(x.shape[:2], dtype=torch.bool)
    # The eager attention of transformers computes its softmax in float32, sdpa does not.
    settings = transformers.ViTConfig(**config, attn_implementation="sdpa")
    model = transformers.ViTForImageClassification(settings)
    model.load_state_dict({name: weights[name_in_file(name)] for name in model.state_dict()})
    with torch.no_grad():
        logits = model.eval().double()(pixels.double()).logits
    torch.testing.assert_close(forward(network, x, mask).logits, logits, rtol=0, atol=1e-10)
    check_run(network, x, mask, target_lists)


# ---------------------------------------------------------------------------------------------
# Files


def write(out, case, exact, rough, notes, extra_tensors, about):
    """`exact` are the tensors computed in float64, `rough` the same, several times, in float32."""
    for name, values in exact.items():
        assert values.dtype == torch.float64, f"{case}: {name} is not float64"
        assert torch.isfinite(values).all(), f"{case}: {name} is not finite"
    deviations = float32_deviations(exact, rough)
    tensors = {name: values.detach().clone(memory_format=torch.contiguous_format)
               for name, values in {**extra_tensors, **exact}.items()}
    file = out / f"{case}.safetensors"
    save_file(tensors, file)
    file.chmod(0o644)  # safetensors makes files only their owner can read
    described = {
        "case": case,
        "made_with": {"torch": torch.__version__.split("+")[0],
                      "transformers": transformers.__version__},
        **about,
        "adds_with_opposite_sums": {place: counts[0] for place, counts in notes.items()},
        "ill_conditioned": [name for name, deviation in deviations.items()
                            if deviation > ILL_CONDITIONED],
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in described.items()]
    listed = ",\n".join(f"    {json.dumps(name)}: {deviation}"
                        for name, deviation in deviations.items())
    text = "\n".join(["{", *lines, f'  "float32_deviation": {{\n{listed}\n  }}', "}"]) + "\n"
    (out / f"{case}.json").write_text(text)
    return file.stat().st_size + len(text)


def write_text_case(case, models, out):
    check_text_case(case, models)
    notes = {}
    exact, corpus = text_case(case, models, torch.float64, notes)
    rough = in_float32(lambda: text_case(case, models, torch.float32, {})[0])
    about = {"model": f"models/{case}", "heads_corpus": corpus}
    return write(out, case, exact, rough, notes, {}, about)


def write_image_case(case, out):
    config = {**IMAGE_CONFIG, **IMAGE_CASES[case]}
    weights, pixels = image_weights(config, config.pop("seed"))
    network = image_network(weights, config, torch.float64)
    x = embed_image(network, pixels.double())
    logits = forward(network, x, torch.ones(x.shape[:2], dtype=torch.bool)).logits
    target_lists = with_other_class([logits[0].argmax().item()], logits.shape[-1])
    check_image_case(config, weights, pixels, target_lists)
    notes = {}
    exact = image_case(config, weights, pixels, target_lists, torch.float64, notes)
    rough = in_float32(
        lambda: image_case(config, weights, pixels, target_lists, torch.float32, {}))
    return write(out, case, exact, rough, notes, {**weights, "image.pixels": pixels},
                 {"config": config})


def main():
    parser = argparse.ArgumentParser(description="Write the golden files of relevance propagation.")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("tests/golden/models"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("tests/golden/relevance"))
    parser.add_argument("--only", nargs="*", metavar="CASE", help="cases to write; all unless told")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    total = 0
    for case in [*TEXT_CASES, *IMAGE_CASES]:
        if arguments.only and case not in arguments.only:
            continue
        if case in TEXT_CASES:
            size = write_text_case(case, arguments.models, arguments.out)
        else:
            size = write_image_case(case, arguments.out)
        total += size
        print(f"{case:20} {size:8} bytes")
    print(f"{'total':20} {total:8} bytes")


if __name__ == "__main__":
    main()
