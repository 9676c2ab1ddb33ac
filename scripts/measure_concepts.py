#!/usr/bin/env python3
"""Which textures the built-in picture model's classes rest on: TCAV, computed with scikit-learn.

    pip install torch==2.15.0 transformers==5.22.2 numpy==2.4.6 pillow==13.0.0 scikit-learn==1.9.1 scipy==1.17.1
    python scripts/measure_concepts.py --model models/pictures --class zebra --layers 1,2,3 --draws 5
    python scripts/measure_concepts.py --model models/pictures --class zebra --layers 1 --concepts tests/data/concepts

For each concept, `--runs` logistic regressions separate its pictures from as many random ones, by the flattened output of a block. The
score is the share of pictures of the class whose logit grows in the direction found; accuracy is on a third of the pictures, held out.
Two p-values: of a two-sided t-test against the scores of random pictures told from other random ones (disjoint sets), and of a permutation test: how
often the first run's pictures, labelled anew, give a mean derivative along the unit direction that is as large. "random" as a concept takes yet other random
pictures. Each draw paints new pictures.
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

CONCEPTS = paint_pictures.CONCEPTS


def painted(kind, name, count, seed):
    return [paint_pictures.paint(kind, name, seed, number).picture for number in range(count)]


def painted_sets(target, size, seed):
    sets = {name: painted("concept", name, 2 * size, seed) for name in CONCEPTS}
    return sets | {"others": painted("concept", "random", 4 * size, seed + 1), target: painted("objects", target, 50, seed)}


def stored_sets(target, folder):
    names = [name for name in CONCEPTS if (folder / name).is_dir()]
    return {name: [np.asarray(Image.open(file)) for file in sorted((folder / name).glob("*.*g"))] for name in [*names, "others", target]}


# ------------------------------------------------------------------------ activations and gradients

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


def in_their_span(vectors, gradients):
    """Coordinates in an orthonormal basis of what all activations span: the same regressions in fewer dimensions."""
    middle = np.concatenate(list(vectors.values())).mean(0)
    vectors = {name: rows - middle for name, rows in vectors.items()}
    every = np.concatenate(list(vectors.values()))
    values, sides = np.linalg.eigh(every @ every.T)
    kept = values > 1e-9 * values[-1]
    basis = (sides[:, kept] / np.sqrt(values[kept])).T @ every
    return {name: rows @ basis.T for name, rows in vectors.items()}, gradients @ basis.T


# ---------------------------------------------------------------------------------------- directions

def fitted(samples, labels):
    """At scikit-learn's default tolerance of 1e-4 the direction is not settled: scores were off by up to 0.3."""
    return LogisticRegression(tol=1e-8, max_iter=10000).fit(samples, labels)


def direction(concept, others):
    labels = np.repeat([1, 0], [len(concept), len(others)])
    return fitted(np.concatenate([concept, others]), labels).coef_[0]


def held_out_accuracy(concept, others):
    samples, labels = np.concatenate([concept, others]), np.repeat([1, 0], [len(concept), len(others)])
    held = np.arange(len(samples)) % 3 == 0
    return fitted(samples[~held], labels[~held]).score(samples[held], labels[held])


def score(concept, others, gradients):
    return (gradients @ direction(concept, others) > 0).mean()


def unit_magnitude(concept, others, gradients):
    found = direction(concept, others)
    return (gradients @ found).mean() / np.linalg.norm(found)


def permutation_p(concept, others, gradients, permutations, rng):
    wanted = abs(unit_magnitude(concept, others, gradients))
    both, reached = np.concatenate([concept, others]), 0
    for _ in range(permutations):
        dealt = both[rng.permutation(len(both))]
        reached += abs(unit_magnitude(dealt[:len(concept)], dealt[len(concept):], gradients)) >= wanted
    return (1 + reached) / (1 + permutations)


def measure(sets, model, processor, layer, arguments):
    rng = np.random.default_rng(arguments.seed)
    target = arguments.target
    vectors = {name: activations(model, processor, sets[name], layer) for name in sets if name != target}
    gradients = target_gradients(model, processor, sets[target], paint_pictures.NAMES.index(target), layer)
    vectors, gradients = in_their_span(vectors, gradients)

    def draw(name, count):
        size = min(arguments.size, len(vectors[name]) // count)
        return np.split(vectors[name][rng.permutation(len(vectors[name]))[:count * size]], count)

    null = [score(*draw("others", 2), gradients) for _ in range(arguments.runs)]
    print(f"\n{target}, block {layer}, {len(gradients)} pictures; random against random: {np.mean(null):.3f} ± {np.std(null):.3f}")
    for name in [name for name in CONCEPTS if name in vectors]:
        pairs = [(draw(name, 1)[0], draw("others", 1)[0]) for _ in range(arguments.runs)]
        scores = [score(*pair, gradients) for pair in pairs]
        accuracy = np.mean([held_out_accuracy(*pair) for pair in pairs])
        permutation = permutation_p(*pairs[0], gradients, arguments.permutations, rng)
        print(f"  {name:8} score {np.mean(scores):.3f} ± {np.std(scores):.3f}, held-out accuracy {accuracy:.2f}, "
              f"t-test p = {ttest_ind(scores, null).pvalue:.2g}, permutation p = {permutation:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="TCAV of the built-in picture model with scikit-learn.")
    parser.add_argument("--model", default="models/pictures")
    parser.add_argument("--class", dest="target", default="zebra", choices=paint_pictures.NAMES)
    parser.add_argument("--layers", default="1", help="blocks, 0 is the first")
    parser.add_argument("--concepts", type=Path, help="a folder with folders striped and so on, others and the class; painted anew if not given")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--size", type=int, default=50, help="pictures on each side of a classifier")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--permutations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=78)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model = ViTForImageClassification.from_pretrained(arguments.model, attn_implementation="eager", dtype=torch.float32).eval()
    processor = AutoImageProcessor.from_pretrained(arguments.model, backend="pil")

    for number in range(1 if arguments.concepts else arguments.draws):
        sets = (stored_sets(arguments.target, arguments.concepts) if arguments.concepts
                else painted_sets(arguments.target, arguments.size, arguments.seed + 10 * number))
        for layer in map(int, arguments.layers.split(",")):
            measure(sets, model, processor, layer, arguments)


if __name__ == "__main__":
    main()
