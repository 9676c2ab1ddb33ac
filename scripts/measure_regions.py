#!/usr/bin/env python3
"""How well explanations of the built-in picture model point at the object, computed with PyTorch.

    pip install torch==2.15.0 transformers==5.22.2 numpy==2.4.6 pillow==13.0.0 .
    python scripts/measure_regions.py --model models/pictures --objects 200 --pairs 100
    python scripts/measure_regions.py --model models/pictures --list tests/data/pictures/pairs/pairs.tsv --json out/pairs.json

The target is the class of the object; a picture of two objects is explained once for each. A map has a
number for each patch and is enlarged to the picture bilinearly. Columns are the metrics of
whyformer.metrics against the mask of the target's object, and
  other      the pointing game against the mask of the other object (pairs only)
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from transformers import AutoImageProcessor, ViTForImageClassification, logging

import paint_pictures
import whyformer as wf


# -------------------------------------------------------------------------------------- methods
# From the maps A[layer][head][query][key], their gradients G and the pixels to a number for each patch.

def gae(maps, gradients, **_):
    """R <- R + mean over heads of (G * A)+, R; row of the class token (ICCV'21)."""
    row = F.one_hot(torch.tensor(0), maps.shape[-1]).to(maps)
    for weights, gradient in zip(maps.flip(0), gradients.flip(0)):
        row = row + row @ (weights * gradient).clamp(min=0).mean(0)
    return row[1:]


def grad_sam(maps, gradients, **_):
    """The row of a token's query, as in the paper."""
    return (maps * gradients.clamp(min=0)).mean((0, 1, 3))[1:]


def grad_cam(maps, gradients, **_):
    weight = gradients[-1, :, 0, 1:].mean(1, keepdim=True)
    return (weight * maps[-1, :, 0, 1:]).mean(0).clamp(min=0)


def rollout(maps, **_):
    row = F.one_hot(torch.tensor(0), maps.shape[-1]).to(maps)
    for weights in maps.mean(1).flip(0):
        row = (row + row @ weights) / 2
    return row[1:]


def raw_attention(maps, **_):
    return maps[-1, :, 0, 1:].mean(0)


def gradient_x_input(pixels, pixel_gradients, patch, **_):
    """Pixels and colours of a patch added up, with their signs."""
    return F.avg_pool2d((pixels * pixel_gradients).sum(0, keepdim=True)[None], patch).flatten()


def random_map(maps, rng, **_):
    return torch.from_numpy(rng.random(maps.shape[-1] - 1))


def centre_map(maps, **_):
    side = int((maps.shape[-1] - 1) ** 0.5)
    ticks = torch.arange(side) - (side - 1) / 2
    return -torch.hypot(ticks[:, None], ticks[None]).flatten()


METHODS = {"gae": gae, "grad-sam": grad_sam, "grad-cam": grad_cam, "gradient-x-input": gradient_x_input, "rollout": rollout,
           "raw-attention": raw_attention, "random": random_map, "centre": centre_map}


def explain(model, pixels, target, rng):
    """Maps of all methods for one picture; side x side each."""
    pixels = pixels[None].requires_grad_()
    output = model(pixels, output_attentions=True)
    gradients = torch.autograd.grad(output.logits[0, target], [pixels, *output.attentions])
    given = dict(maps=torch.stack(output.attentions)[:, 0].detach().double(), gradients=torch.stack(gradients[1:])[:, 0].double(),
                 pixels=pixels[0].detach(), pixel_gradients=gradients[0][0], patch=model.config.patch_size, rng=rng)
    side = model.config.image_size // model.config.patch_size
    return {name: method(**given).reshape(side, side).double() for name, method in METHODS.items()}


# ------------------------------------------------------------------------------------- metrics

class Metrics:
    def __init__(self):
        self.at_object = wf.metrics.Localisation()
        self.at_other = wf.metrics.Localisation(["pointing-game"])

    def add(self, relevance, mask, other):
        heat = wf.metrics.enlarged(relevance, *mask.shape)
        self.at_object.add(heat, mask)
        self.at_other.add(heat, other)

    def result(self):
        return {**self.at_object.values(), "other": self.at_other.values()["pointing-game"]}


def measure(model, processor, scenes, seed=1):
    """scenes: (picture, class numbers, masks) each."""
    metrics = {name: Metrics() for name in METHODS}
    rng = np.random.default_rng(seed)
    for picture, labels, masks in scenes:
        pixels = processor(images=Image.fromarray(picture), return_tensors="pt").pixel_values[0]
        for place, label in enumerate(labels):
            others = [mask for other, mask in enumerate(masks) if other != place]
            other = np.any(others, axis=0) if others else np.zeros_like(masks[0])
            for name, relevance in explain(model, pixels, label, rng).items():
                metrics[name].add(relevance, masks[place], other)
    return {name: found.result() for name, found in metrics.items()}


def painted_scenes(kind, count, seed):
    for number in range(count):
        scene = paint_pictures.paint(kind, None, seed, number)
        yield scene.picture, scene.labels, scene.masks


def listed_scenes(file):
    rows = list(csv.DictReader(file.open(), delimiter="\t"))
    for picture in dict.fromkeys(row["picture"] for row in rows):
        objects = [row for row in rows if row["picture"] == picture]
        yield (np.asarray(Image.open(file.parent / picture)), [paint_pictures.NAMES.index(row["class"]) for row in objects],
               [np.asarray(Image.open(file.parent / row["mask"])).astype(bool) for row in objects])


def show(title, results):
    columns = list(next(iter(results.values())))
    print(f"\n{title}\n| method | {' | '.join(columns)} |\n|---" + "|---" * len(columns) + "|")
    for name, result in results.items():
        print(f"| {name} | " + " | ".join("–" if value is None else f"{value:.3f}" for value in result.values()) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="How well explanations of the picture model point at the object.")
    parser.add_argument("--model", default="models/pictures")
    parser.add_argument("--objects", type=int, default=0, help="pictures of one object to paint")
    parser.add_argument("--pairs", type=int, default=0, help="pictures of two objects to paint")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--list", type=Path, action="append", default=[], help="objects.tsv or pairs.tsv of painted pictures")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model = ViTForImageClassification.from_pretrained(arguments.model, attn_implementation="eager", dtype=torch.float32).eval()
    processor = AutoImageProcessor.from_pretrained(arguments.model, backend="pil")

    results = {}
    for kind, count in (("objects", arguments.objects), ("pairs", arguments.pairs)):
        if count:
            results[kind] = measure(model, processor, painted_scenes(kind, count, arguments.seed))
            show(f"{count} {kind}, seed {arguments.seed}", results[kind])
    for file in arguments.list:
        results[file.stem] = measure(model, processor, listed_scenes(file))
        show(str(file), results[file.stem])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
