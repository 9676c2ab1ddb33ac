#!/usr/bin/env python3
"""Which textures the built-in picture model's classes rest on: TCAV, computed with scikit-learn.

    pip install torch==2.15.0 transformers==5.22.2 numpy==2.4.6 pillow==13.0.0 scikit-learn==1.9.1 scipy==1.17.1
    python scripts/measure_concepts.py --model models/pictures --class zebra --layers 2,3,4
    python scripts/measure_concepts.py --model models/pictures --class zebra --layers 3 --concepts tests/data/concepts

For each concept, `--runs` logistic regressions separate its pictures from as many random ones, by the flattened output of a block. The
score is the share of pictures of the class whose logit grows in the direction found; accuracy is on a third of the pictures, held out.
The p-value is of a two-sided t-test against the scores of random pictures told from other random ones (disjoint sets). "random" as a
concept takes yet other random pictures.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from scipy.stats import ttest_ind
from sklearn.linear_model import LogisticRegression
from transformers import AutoImageProcessor, ViTForImageClassification, logging

import paint_pictures


def painted(kind, name, count, seed):
    return [paint_pictures.paint(kind, name, seed, number).picture for number in range(count)]


def stored(folder, name):
    return [np.asarray(Image.open(file)) for file in sorted(folder.glob(f"{name}-*.png")) if "mask" not in file.name]


def states_and_logits(model, processor, pictures, layer):
    """Output of block `layer` (0 is the first), a leaf for gradients, and the logits."""
    kept = []

    def keep(module, inputs, output):
        kept.append(output.detach().requires_grad_())
        return kept[0]

    handle = model.vit.layers[layer].register_forward_hook(keep)
    pixels = processor(images=[Image.fromarray(picture) for picture in pictures], return_tensors="pt").pixel_values
    logits = model(pixels).logits
    handle.remove()
    return kept[0], logits


def activations(model, processor, pictures, layer):
    with torch.no_grad():
        states, _ = states_and_logits(model, processor, pictures, layer)
    return states.detach().flatten(1).double().numpy()


def target_gradients(model, processor, pictures, target, layer):
    states, logits = states_and_logits(model, processor, pictures, layer)
    return torch.autograd.grad(logits[:, target].sum(), states)[0].flatten(1).double().numpy()


def score(concept, others, gradients):
    """TCAV score of a direction and the accuracy of the classifier on a third of the pictures."""
    samples = np.concatenate([concept, others])
    labels = np.repeat([1, 0], [len(concept), len(others)])
    held = np.arange(len(samples)) % 3 == 0
    accuracy = LogisticRegression(max_iter=1000).fit(samples[~held], labels[~held]).score(samples[held], labels[held])
    direction = LogisticRegression(max_iter=1000).fit(samples, labels).coef_[0]
    return (gradients @ direction > 0).mean(), accuracy


def main():
    parser = argparse.ArgumentParser(description="TCAV of the built-in picture model with scikit-learn.")
    parser.add_argument("--model", default="models/pictures")
    parser.add_argument("--class", dest="target", default="zebra", choices=paint_pictures.NAMES)
    parser.add_argument("--layers", default="3", help="blocks, 0 is the first")
    parser.add_argument("--concepts", type=Path, help="a folder of striped-*.png and so on; painted anew if not given")
    parser.add_argument("--size", type=int, default=30, help="pictures on each side of a classifier")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=78)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model = ViTForImageClassification.from_pretrained(arguments.model, attn_implementation="eager", dtype=torch.float32).eval()
    processor = AutoImageProcessor.from_pretrained(arguments.model, backend="pil")

    textures = ["striped", "dotted", "bubbly"]
    if arguments.concepts:
        sets = {name: stored(arguments.concepts, name) for name in [*textures, "random", arguments.target]}
    else:
        sets = {name: painted("concept", name, 100, arguments.seed) for name in textures}
        sets["random"] = painted("concept", "random", 200, arguments.seed)
        sets[arguments.target] = painted("objects", arguments.target, 50, arguments.seed)

    for layer in map(int, arguments.layers.split(",")):
        rng = np.random.default_rng(arguments.seed)
        vectors = {name: activations(model, processor, sets[name], layer) for name in [*textures, "random"]}
        gradients = target_gradients(model, processor, sets[arguments.target], paint_pictures.NAMES.index(arguments.target), layer)

        def draw(name, count):
            return np.split(vectors[name][rng.permutation(len(vectors[name]))[:count * arguments.size]], count)

        null = [score(*draw("random", 2), gradients)[0] for _ in range(arguments.runs)]
        print(f"\n{arguments.target}, block {layer}, {len(gradients)} pictures; "
              f"random against random: {np.mean(null):.3f} ± {np.std(null):.3f}")
        for name in [*textures, "random"]:
            runs = []
            for _ in range(arguments.runs):
                concept, others = draw("random", 2) if name == "random" else (draw(name, 1)[0], draw("random", 1)[0])
                runs.append(score(concept, others, gradients))
            scores, accuracies = zip(*runs)
            p = ttest_ind(scores, null).pvalue
            print(f"  {name:8} score {np.mean(scores):.3f} ± {np.std(scores):.3f}, held-out accuracy {np.mean(accuracies):.2f}, "
                  f"p = {p:.2g}", flush=True)


if __name__ == "__main__":
    main()
