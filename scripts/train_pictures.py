#!/usr/bin/env python3
"""Train the built-in picture model from scratch.

Only needed to retrain; the engine reads the files this script writes.

    pip install torch==2.15.0 transformers==5.22.2 safetensors==0.8.0 numpy==2.4.6 pillow==13.0.0
    python scripts/train_pictures.py --out models/pictures

Steps:
  1. pictures of one, two or no object are painted by paint_pictures.py and shrunk to the size the model reads;
  2. a Vision Transformer learns the classes from random weights. A picture of two objects has both classes as its target, half each,
     and one without an object all classes alike, so that the evidence for a class can only come from its object;
  3. weights rounded to F16 and written.

The masks take no part in training: the model is never told where an object is.
Everything runs on one CPU thread, so a seed gives the same model again on the same kind of machine.
"""

import argparse
import copy
import json
import math
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image
from transformers import ViTConfig, ViTForImageClassification, logging

import paint_pictures

INPUT = 96
PATCH = 8
WIDTH = 128
CONFIG = dict(image_size=INPUT, patch_size=PATCH, hidden_size=WIDTH, num_hidden_layers=5, num_attention_heads=4,
              intermediate_size=256, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, layer_norm_eps=1e-6,
              encoder_stride=PATCH)
TRAIN_SEED, HELDOUT_SEED, TEST_SEED = 1000, 2000, 3000
# Somewhat smaller objects than those usually painted: the harder task.
SCALES = {1: (0.22, 0.42), 2: (0.2, 0.29)}


# ------------------------------------------------------------------------------------- pictures

def shrunk(picture):
    """As ViTImageProcessor does it: bilinear with antialiasing."""
    return np.array(Image.fromarray(picture).resize((INPUT, INPUT), Image.Resampling.BILINEAR))


def paint_pool(count, seed, shares, scales=SCALES):
    """Pictures as bytes and their targets; `shares` of them have no, one, two objects."""
    classes = len(paint_pictures.NAMES)
    pictures = np.empty((count, INPUT, INPUT, 3), dtype=np.uint8)
    targets = np.zeros((count, classes), dtype=np.float32)
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        labels = rng.choice(classes, rng.choice(3, p=shares), replace=False)
        pictures[number] = shrunk(paint_pictures.paint_scene(labels.tolist(), rng, scales=scales).picture)
        targets[number, labels if len(labels) else slice(None)] = 1
    return torch.from_numpy(pictures), torch.from_numpy(targets / targets.sum(1, keepdims=True))


def pixel_values(pictures):
    return (pictures.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5


# ---------------------------------------------------------------------------------- first weights

def cosine_filters():
    """The patch projection starts as a cosine transform: 64 of brightness, 32 each of two colour differences."""
    place = (torch.arange(PATCH) + 0.5) * math.pi / PATCH
    waves = torch.stack([torch.cos(place * k) * (0.5 if k else 0.5 ** 1.5) for k in range(PATCH)])
    pairs = sorted(((i, j) for i in range(PATCH) for j in range(PATCH)), key=lambda pair: (sum(pair), pair))
    flat = torch.stack([torch.outer(waves[i], waves[j]) for i, j in pairs])
    mixes = torch.tensor([[1, 1, 1], [1, 0, -1], [1, -2, 1]]).float()
    mixes = mixes / mixes.norm(dim=1, keepdim=True)
    return torch.cat([flat[:number, None] * mix.view(1, 3, 1, 1) for number, mix in zip((64, 32, 32), mixes)])


def grid_waves():
    """Position embeddings start as sines and cosines of the row and of the column."""
    side = INPUT // PATCH
    rates = 1.0 / 30 ** (torch.arange(WIDTH // 4) / (WIDTH // 4))
    angles = torch.arange(side)[:, None] * rates
    one = torch.cat([angles.sin(), angles.cos()], 1)
    grid = torch.cat([one[:, None].expand(side, side, -1), one[None].expand(side, side, -1)], 2)
    return torch.cat([torch.zeros(1, WIDTH), grid.reshape(side * side, WIDTH)])


def new_model():
    names = paint_pictures.NAMES
    config = ViTConfig(id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)},
                       problem_type="single_label_classification", **CONFIG)
    model = ViTForImageClassification(config)
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=0.7 / math.sqrt(layer.in_features))
    nn.init.normal_(model.classifier.weight, std=0.01)
    with torch.no_grad():
        model.vit.embeddings.patch_embeddings.projection.weight.copy_(0.5 * cosine_filters())
        model.vit.embeddings.position_embeddings.copy_(0.3 * grid_waves())
    return model


# ------------------------------------------------------------------------------------ training

def varied(pictures):
    """Half of the pictures mirrored, and red, green and blue of each exchanged at random: neither tells anything about the class."""
    mirrored = torch.rand(len(pictures)) < 0.5
    pictures[mirrored] = pictures[mirrored].flip(2)
    order = torch.rand(len(pictures), 1, 1, 3).argsort(3)
    return pictures.gather(3, order.expand(pictures.shape))


def logits_of_some_patches(model, pixels, kept):
    """The model's logits when it reads only a random share of the patches; less to compute, and no patch may be relied upon."""
    tokens = model.vit.embeddings(pixels)
    patches = tokens.shape[1] - 1
    chosen = torch.rand(len(tokens), patches).argsort(1)[:, :round(kept * patches)] + 1
    chosen = torch.cat([torch.zeros(len(tokens), 1, dtype=torch.long), chosen], 1)
    states = tokens.gather(1, chosen[..., None].expand(-1, -1, tokens.shape[2]))
    for layer in model.vit.layers:
        states = layer(states)
    return model.classifier(model.vit.layernorm(states)[:, 0])


def make_optimizer(model, rate):
    decayed = [p for p in model.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if p.ndim != 2]
    return torch.optim.AdamW([dict(params=decayed, weight_decay=0.05), dict(params=others, weight_decay=0.0)],
                             lr=rate, betas=(0.9, 0.98), fused=True)


def rate_at(progress, warmup=0.05):
    return min(1, progress / warmup) * 0.5 * (1 + math.cos(math.pi * progress))


def train(model, pictures, targets, heldout, epochs, size=32, rate=1e-3, kept=0.6, whole_from=0.5):
    """Returns the moving average of the weights. The last part of the training reads whole pictures."""
    optimizer = make_optimizer(model, rate)
    average = copy.deepcopy(model).eval()
    total, done, start = epochs * (len(pictures) // size), 0, time.time()
    for epoch in range(epochs):
        model.train()
        losses = []
        for batch in torch.randperm(len(pictures))[:len(pictures) // size * size].split(size):
            progress = done / total
            for group in optimizer.param_groups:
                group["lr"] = rate * rate_at(progress)
            pixels = pixel_values(varied(pictures[batch]))
            logits = logits_of_some_patches(model, pixels, kept if progress < whole_from else 1)
            loss = F.cross_entropy(logits, targets[batch])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            done += 1
            keep = min(0.998, done / (done + 50))
            with torch.no_grad():
                for mean, new in zip(average.parameters(), model.parameters()):
                    mean.lerp_(new, 1 - keep)
        single, pair = accuracy(average, *heldout)
        print(f"  epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}, held out: one object {single:.4f}, "
              f"both of two {pair:.4f}, {time.time() - start:.0f} s", flush=True)
    return average


# ---------------------------------------------------------------------- evaluation and writing

@torch.no_grad()
def accuracy(model, pictures, targets, size=100):
    """Share of pictures of one object whose class comes first, and of two whose classes are the first two."""
    model.eval()
    logits = torch.cat([model(pixel_values(part)).logits for part in pictures.split(size)])
    objects = (targets > 0).sum(1)
    right = []
    for count in (1, 2):
        chosen = objects == count
        found = targets[chosen].gather(1, logits[chosen].topk(count).indices) > 0
        right.append(found.all(1).float().mean().item())
    return right


def rounded(model):
    """The model with its weights rounded to F16, computing in F32."""
    return copy.deepcopy(model).half().float()


def write(model, out):
    """Weights as F16; each file is complete before it replaces an older one."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        folder = Path(folder)
        copy.deepcopy(model).half().save_pretrained(folder)
        config = json.loads((folder / "config.json").read_text())
        config["dtype"] = "float32"  # the type to compute in
        config["whyformer_limits"] = (f"This model knows painted things only ({', '.join(model.config.id2label.values())}): "
                                      "photographs mean nothing to it.")
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        settings = dict(image_processor_type="ViTImageProcessor", do_convert_rgb=True, do_resize=True,
                        size=dict(height=INPUT, width=INPUT), resample=int(Image.Resampling.BILINEAR), do_rescale=True,
                        rescale_factor=1 / 255, do_normalize=True, image_mean=[0.5] * 3, image_std=[0.5] * 3)
        (folder / "preprocessor_config.json").write_text(json.dumps(settings, indent=2) + "\n")
        for path in folder.iterdir():
            path.chmod(0o644)
            os.replace(path, out / path.name)


def painted(cache, count, seed, shares):
    """The pool of a seed, from a file of an earlier run if there is one."""
    file = None if cache is None else cache / f"pool-{seed}-{count}.pt"
    if file is not None and file.exists():
        return torch.load(file)
    pool = paint_pool(count, seed, shares)
    if file is not None:
        cache.mkdir(parents=True, exist_ok=True)
        torch.save(pool, file)
    return pool


def main():
    parser = argparse.ArgumentParser(description="Train the built-in picture model from scratch.")
    parser.add_argument("--out", default="models/pictures")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=int, default=16000, help="painted for training")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--cache", type=Path, help="a folder that keeps painted pictures for the next run")
    arguments = parser.parse_args()

    start = time.time()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    logging.set_verbosity_error()
    logging.disable_progress_bar()

    pictures, targets = painted(arguments.cache, arguments.pictures, TRAIN_SEED, (0.05, 0.5, 0.45))
    heldout = painted(arguments.cache, 600, HELDOUT_SEED, (0, 0.5, 0.5))
    model = new_model()
    print(f"{len(pictures)} pictures, {sum(p.numel() for p in model.parameters())} parameters, "
          f"{time.time() - start:.0f} s", flush=True)

    model = train(model, pictures, targets, heldout, arguments.epochs)
    write(model, arguments.out)

    single, pair = accuracy(rounded(model), *painted(arguments.cache, 2000, TEST_SEED, (0, 0.5, 0.5)))
    print(f"as stored (F16), new pictures: one object {single:.4f}, both of two {pair:.4f}")
    print(f"total {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
