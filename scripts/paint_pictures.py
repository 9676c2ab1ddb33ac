#!/usr/bin/env python3
"""Paint pictures whose objects, textures and regions are known.

    pip install numpy==2.4.6 pillow==13.0.0
    python scripts/paint_pictures.py --kind objects --count 24 --seed 1 --out out/objects
    python scripts/paint_pictures.py --kind pairs --count 12 --seed 2 --out out/pairs
    python scripts/paint_pictures.py --kind concept --name striped --count 30 --seed 3 --out out/concepts

An object is a shape with a texture, and the two together are its class. Classes of one shape differ by texture alone: a four-legged shape
is a zebra if striped, a dalmatian if dotted and a horse if plain; a round one is a ladybird if dotted and a beetle if plain. Colours, sizes, places and
backgrounds are drawn at random and tell nothing about the class. Bits and pieces in the background (squares, triangles, crosses, some of them textured)
belong to no class.

Kinds:
  objects   one object, of all classes in turn or of the class --name; objects.tsv (zebras.tsv) lists picture, class, mask and box
            (left, top, right, bottom; right and bottom exclusive). Masks have a folder of their own.
  pairs     two objects of different classes, a line of pairs.tsv each, with a mask each
  concept   a patchwork without objects: all patches striped, dotted or bubbly, or, as "random", each of any texture or plain. So a concept's
            pictures and the random ones differ by texture alone.

A mask is white where the object is seen. Every picture has random numbers of its own, from the seed and its number: the same bytes
whatever the count.
"""

import argparse
import colorsys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = 128  # pixels on each side, unless told otherwise

# class -> (shape, texture)
CLASSES = {
    "zebra": ("four-legged", "striped"),
    "dalmatian": ("four-legged", "dotted"),
    "horse": ("four-legged", "plain"),
    "ladybird": ("round", "dotted"),
    "beetle": ("round", "plain"),
    "jellyfish": ("bell", "bubbly"),
}
NAMES = list(CLASSES)
CONCEPTS = ["striped", "dotted", "bubbly", "random"]

# Smallest and largest scale (half the length of a body, as a share of the picture) of an object alone and of two.
SCALES = {1: (0.24, 0.42), 2: (0.21, 0.29)}


# ------------------------------------------------------------------------------------ distances
# Signed distances to simple figures, negative inside (their union is the minimum).

def ellipse(u, v, centre, radii):
    a, b = (u - centre[0]) / radii[0], (v - centre[1]) / radii[1]
    length = np.sqrt(a * a + b * b)
    slope = np.sqrt((a / radii[0]) ** 2 + (b / radii[1]) ** 2)
    return length * (length - 1) / np.maximum(slope, 1e-3)


def limb(u, v, start, end, wide, narrow):
    """A rounded stick that goes from one width to another."""
    along = np.subtract(end, start)
    a, b = u - start[0], v - start[1]
    share = np.clip((a * along[0] + b * along[1]) / (along @ along), 0, 1)
    return np.hypot(a - share * along[0], b - share * along[1]) - (wide + share * (narrow - wide))


def box(u, v, half):
    a, b = np.abs(u) - half[0], np.abs(v) - half[1]
    return np.hypot(np.maximum(a, 0), np.maximum(b, 0)) + np.minimum(np.maximum(a, b), 0)


def melt(first, second, softness):
    """The union of two figures with a smooth joint."""
    share = np.clip(0.5 + 0.5 * (second - first) / softness, 0, 1)
    return second + share * (first - second) - softness * share * (1 - share)


# --------------------------------------------------------------------------------------- shapes
# Each gives the distance of the textured body, of the plain parts in front of it, and where the eyes are. Units: about 1 from the
# centre to the far end; u points forward, v down.

def four_legged(u, v, rng):
    sway = rng.uniform(-0.09, 0.09, 4)
    rise = rng.uniform(-0.1, 0.08)
    neck, nose = (0.78, -0.5 + rise), (1.02, -0.36 + rise)
    body = ellipse(u, v, (0, 0), (0.66, 0.33))
    body = melt(body, limb(u, v, (0.42, -0.08), neck, 0.2, 0.14), 0.12)
    body = melt(body, limb(u, v, neck, nose, 0.15, 0.1), 0.05)
    for place, shift in zip((-0.5, -0.31, 0.28, 0.47), sway):
        body = melt(body, limb(u, v, (place, 0.12), (place + shift, 0.82), 0.12, 0.075), 0.06)
    body = np.minimum(body, limb(u, v, (neck[0] - 0.04, neck[1] - 0.1), (neck[0] - 0.09, neck[1] - 0.26), 0.06, 0.03))
    body = melt(body, limb(u, v, (-0.6, -0.1), (-0.86, rng.uniform(-0.1, 0.3)), 0.06, 0.04), 0.05)
    return body, None, [(neck[0] + 0.05, neck[1] - 0.02, 0.05)]


def round_one(u, v, rng):
    """A beetle from above."""
    body = ellipse(u, v, (-0.08, 0), (0.7, rng.uniform(0.56, 0.64)))
    plain = ellipse(u, v, (0.62, 0), (0.2, 0.27))
    for side in (-1, 1):
        plain = np.minimum(plain, limb(u, v, (0.72, side * 0.1), (0.98, side * rng.uniform(0.16, 0.34)), 0.045, 0.03))
        for place in (-0.42, 0, 0.36):
            foot = (1.3 * place + rng.uniform(-0.08, 0.08), side * rng.uniform(0.82, 0.94))
            plain = np.minimum(plain, limb(u, v, (place, side * 0.45), foot, 0.06, 0.045))
    return body, plain, [(0.7, -0.14, 0.05), (0.7, 0.14, 0.05)]


def bell(u, v, rng):
    """A jellyfish: a dome over wavy arms."""
    body = np.maximum(ellipse(u, v, (0, -0.1), (0.74, 0.68)), v - 0.14 - 0.05 * np.sin(11 * u))
    plain = np.full_like(u, 9)
    for place in np.linspace(-0.5, 0.5, 5):
        middle = place + 0.07 * np.sin(7 * v + rng.uniform(0, 6.28))
        end = rng.uniform(0.7, 1.0)
        plain = np.minimum(plain, np.maximum(np.abs(u - middle) - 0.07 * (1.35 - v), np.maximum(0.05 - v, v - end)))
    return body, plain, []


SHAPES = {"four-legged": four_legged, "round": round_one, "bell": bell}
LARGEST_TURN = {"four-legged": 0.3, "round": 3.15, "bell": 0.5}


def piece(u, v, rng):
    """One of the bits that belong to no class."""
    kind = rng.integers(4)
    if kind == 0:
        return box(u, v, (0.8, rng.uniform(0.35, 0.8)))
    if kind == 1:  # a triangle
        return np.maximum(np.abs(u) * 0.87 + v * 0.5, -v) - 0.45
    if kind == 2:  # a cross
        return np.minimum(box(u, v, (0.85, 0.26)), box(u, v, (0.26, 0.85)))
    return np.abs(box(u, v, (0.6, 0.6))) - 0.16  # a frame


# ------------------------------------------------------------------------------------- textures
# Each gives how much of the second colour a place has, and how much light is added to it.

def cells(u, v, period, rng):
    """A jittered hexagonal grid: offset from the centre of the cell, and two random numbers of the cell."""
    row = np.floor(v / (0.87 * period)).astype(np.int64)
    shifted = u / period + 0.5 * (row & 1)
    column = np.floor(shifted).astype(np.int64)
    numbers = rng.random((4, 32, 32), dtype=np.float32)[:, row & 31, column & 31]
    across = (shifted - column - 0.5) * period - (numbers[0] - 0.5) * 0.16 * period
    down = v - (row + 0.5) * 0.87 * period - (numbers[1] - 0.5) * 0.12 * period
    return across, down, numbers[2]


def striped(u, v, period, pixel, rng):
    wave = np.sin(v / period * rng.uniform(0.6, 1.5) + rng.uniform(0, 6.28)) * rng.uniform(0.05, 0.3)
    phase = 2 * np.pi * (u / period + wave + rng.random())
    return np.clip(0.5 + np.sin(phase) * period / (2 * np.pi * pixel), 0, 1), 0


def dotted(u, v, period, pixel, rng):
    across, down, number = cells(u, v, 1.35 * period, rng)
    radius = period * (0.36 + 0.1 * number)
    return np.clip(0.5 + (radius - np.hypot(across, down)) / pixel, 0, 1), 0


def bubbly(u, v, period, pixel, rng):
    across, down, number = cells(u, v, 1.6 * period, rng)
    radius = period * (0.42 + 0.2 * number)
    distance = np.hypot(across, down)
    ring = np.clip(0.5 + (0.13 * period - np.abs(distance - radius)) / pixel, 0, 1)
    glint = np.clip(0.5 + (0.12 * period - np.hypot(across + 0.4 * radius, down + 0.4 * radius)) / pixel, 0, 1)
    inside = np.clip(0.5 + (radius - distance) / pixel, 0, 1)
    return np.maximum(ring, 0.12 * inside), 0.5 * glint


def plain(u, v, period, pixel, rng):
    return np.zeros_like(u), 0


TEXTURES = {"striped": striped, "dotted": dotted, "bubbly": bubbly, "plain": plain}


def textured(x, y, texture, period, pixel, colours, rng, turn):
    """Colours of the places x, y."""
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    second, light = TEXTURES[texture](u, v, period, pixel, rng)
    second, light = np.asarray(second)[..., None], np.asarray(light)[..., None]
    return colours[0] + second * (colours[1] - colours[0]) + light * (1 - colours[0])


# -------------------------------------------------------------------------------------- colours

def colour(rng, lightness=None):
    lightness = rng.uniform(0.2, 0.85) if lightness is None else lightness
    return np.array(colorsys.hls_to_rgb(rng.random(), lightness, rng.uniform(0.15, 0.85)), dtype=np.float32)


def brightness(rgb):
    return float(rgb @ (0.3, 0.59, 0.11))


def two_colours(rng, away_from):
    """Two colours of different brightness, the first one not like the background."""
    while True:
        first, second = colour(rng), colour(rng, rng.uniform(0.05, 0.95))
        if abs(brightness(first) - brightness(second)) > 0.35 and np.abs(first - away_from).sum() > 0.6:
            return first, second


# ------------------------------------------------------------------------------------- painting

@dataclass
class Painted:
    picture: np.ndarray  # size x size x 3, bytes
    masks: list          # one size x size array of booleans for each object
    labels: list         # the class number of each object


class Canvas:
    def __init__(self, size, rng):
        self.size, self.rng = size, rng
        self.ticks = (np.arange(size, dtype=np.float32) + 0.5) / size
        self.pixels = background(size, rng)
        self.masks = []

    def around(self, centre, reach):
        """The part of the picture near a place: its slices and its coordinates from the centre."""
        spans = []
        for middle in (centre[1], centre[0]):
            spans.append(slice(max(0, int((middle - reach) * self.size)),
                               min(self.size, int((middle + reach) * self.size) + 2)))
        y, x = np.meshgrid(self.ticks[spans[0]] - centre[1], self.ticks[spans[1]] - centre[0], indexing="ij")
        return tuple(spans), x, y

    def blend(self, part, share, colours):
        share = np.asarray(share)[..., None]
        self.pixels[part] += share * (colours - self.pixels[part])

    def cover(self, distance, scale):
        """How much of each pixel lies inside a figure."""
        return np.clip(0.5 - distance * scale * self.size, 0, 1)

    def paint_piece(self):
        rng = self.rng
        centre, scale, turn = rng.uniform(0.03, 0.97, 2), rng.uniform(0.04, 0.09), rng.uniform(0, 6.28)
        part, x, y = self.around(centre, 1.5 * scale)
        u, v = turned(x, y, turn, scale)
        away_from = self.pixels[part].mean((0, 1))
        texture = list(TEXTURES)[rng.integers(4)] if rng.random() < 0.4 else "plain"
        colours = textured(x, y, texture, rng.uniform(0.04, 0.07), 1 / self.size, two_colours(rng, away_from), rng,
                           rng.uniform(0, 3.14))
        self.blend(part, rng.uniform(0.6, 1) * self.cover(piece(u, v, rng), scale), colours)

    def paint_object(self, label, centre, scale):
        rng = self.rng
        shape, texture = CLASSES[NAMES[label]]
        turn = rng.uniform(-1, 1) * LARGEST_TURN[shape]
        part, x, y = self.around(centre, 1.35 * scale)
        u, v = turned(x, y, turn, scale)
        if rng.random() < 0.5:
            u = -u
        body, front, eyes = SHAPES[shape](u, v, rng)
        whole = body if front is None else np.minimum(body, front)

        first, second = two_colours(rng, self.pixels[part].mean((0, 1)))
        period = np.clip(0.24 * scale, 0.048, 0.09) * rng.uniform(0.85, 1.15)
        colours = textured(x, y, texture, period, 1 / self.size, (first, second), rng, turn + rng.uniform(-0.6, 0.6))
        if front is not None:
            ahead = self.cover(np.maximum(front, -body) if shape == "round" else np.maximum(front, -body - 0.02), scale)
            colours = colours + ahead[..., None] * (0.55 * first - colours)
        # Light from above left, and a darker rim, make it look solid.
        shade = 1.06 - 0.16 * (0.6 * y + 0.4 * x) / scale - 0.5 * np.exp(-np.maximum(-whole, 0) / 0.045)
        colours = np.clip(colours * shade[..., None], 0, 1)
        self.pixels[part] *= 1 - 0.3 * np.exp(-np.maximum(whole, 0) / 0.12)[..., None]
        inside = self.cover(whole, scale)
        self.blend(part, inside, colours)
        for eye_u, eye_v, radius in eyes:
            away = np.hypot(u - eye_u, v - eye_v)
            self.blend(part, self.cover(away - 1.4 * radius, scale), np.float32(0.97))
            self.blend(part, self.cover(away - 0.8 * radius, scale), np.float32(0.05))

        seen = np.zeros((self.size, self.size), dtype=bool)
        seen[part] = inside > 0.5
        self.masks = [mask & ~seen for mask in self.masks] + [seen]

    def finished(self, labels):
        return Painted(np.rint(255 * np.clip(self.pixels, 0, 1)).astype(np.uint8), self.masks, labels)


def turned(x, y, turn, scale):
    return (x * np.cos(turn) + y * np.sin(turn)) / scale, (y * np.cos(turn) - x * np.sin(turn)) / scale


def soft_noise(size, coarse, rng):
    """Random values on a coarse grid, smoothly enlarged; between about -1 and 1."""
    small = Image.fromarray(rng.uniform(-1, 1, (coarse, coarse)).astype(np.float32))
    return np.asarray(small.resize((size, size), Image.Resampling.BICUBIC))


def background(size, rng):
    """A gradient with soft patches of other colours and grain."""
    ticks = (np.arange(size, dtype=np.float32) + 0.5) / size - 0.5
    turn = rng.uniform(0, 6.28)
    ramp = np.clip(0.5 + ticks[None, :] * np.cos(turn) + ticks[:, None] * np.sin(turn), 0, 1)[..., None]
    first = colour(rng)
    second = 0.5 * first + 0.5 * colour(rng)
    pixels = first + ramp * (second - first)
    for coarse in (3, int(rng.integers(5, 9)), int(rng.integers(10, 16))):
        share = rng.uniform(0.1, 0.5) * np.clip(0.5 + soft_noise(size, coarse, rng), 0, 1)[..., None]
        pixels = pixels + share * (colour(rng) - pixels)
    grain = rng.uniform(0.005, 0.03)
    return (pixels + grain * rng.standard_normal((size, size, 1), dtype=np.float32)).astype(np.float32)


def paint_scene(labels, rng, size=SIZE, scales=SCALES):
    """A picture of objects of these classes (none, one or two)."""
    canvas = Canvas(size, rng)
    for _ in range(rng.integers(0, 6) if labels else rng.integers(2, 9)):
        canvas.paint_piece()
    for label, (centre, scale) in zip(labels, places(len(labels), rng, scales)):
        canvas.paint_object(label, centre, scale)
    return canvas.finished(list(labels))


def places(count, rng, scales):
    """Centres and scales of objects that lie inside the picture and apart from each other."""
    if count == 0:
        return []
    while True:
        drawn = rng.uniform(*scales[count], count)
        centres = [rng.uniform(0.95 * scale, 1 - 0.95 * scale, 2) for scale in drawn]
        if count == 1 or np.hypot(*(centres[0] - centres[1])) > 0.9 * drawn.sum():
            return list(zip(centres, drawn))


def paint_quilt(textures, rng, size=SIZE):
    """A patchwork that fills the picture: every patch has one of the textures, and colours, a period and a tilt of its own.

    Stripes are as upright as those of a standing zebra: lying ones say nothing about zebras.
    """
    canvas = Canvas(size, rng)
    part, x, y = canvas.around((0.5, 0.5), 1)
    centres = rng.random((rng.integers(4, 10), 2)) - 0.5
    nearest = np.argmin([np.hypot(x - across, y - down) for across, down in centres], axis=0)
    for number in range(len(centres)):
        texture = textures[rng.integers(len(textures))]
        colours = two_colours(rng, canvas.pixels.mean((0, 1)))
        canvas.blend(part, nearest == number, textured(x, y, texture, rng.uniform(0.048, 0.095), 1 / size, colours, rng,
                                                       rng.uniform(-0.7, 0.7)))
    # Some of the background's light shines through, so that the texture is not all there is to see.
    canvas.pixels *= 0.9 + 0.2 * np.clip(0.5 + soft_noise(size, 4, rng), 0, 1)[..., None]
    return canvas.finished([])


def paint(kind, name, seed, number, size=SIZE):
    """Picture `number` of a seed; objects take the classes in turn unless one is named."""
    streams = ["objects", "pairs", *CONCEPTS, *NAMES]
    rng = np.random.default_rng([seed, streams.index(name or kind), number])
    if kind == "objects":
        return paint_scene([NAMES.index(name) if name else number % len(NAMES)], rng, size)
    if kind == "pairs":
        first = number % len(NAMES)
        return paint_scene([first, (first + int(rng.integers(1, len(NAMES)))) % len(NAMES)], rng, size)
    return paint_quilt(list(TEXTURES) if name == "random" else [name], rng, size)


# -------------------------------------------------------------------------------------- writing

def bounds(mask):
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def write_pictures(kind, name, count, seed, size, out):
    (out if kind == "concept" else out / "masks").mkdir(parents=True, exist_ok=True)
    lines = ["picture\tclass\tmask\tleft\ttop\tright\tbottom"]
    stem = (name or {"objects": "object", "pairs": "pair"}[kind]).replace(" ", "-")
    for number in range(count):
        painted = paint(kind, name, seed, number, size)
        picture = f"{stem}-{number:03}.png"
        Image.fromarray(painted.picture).save(out / picture, optimize=True)
        for place, (label, mask) in enumerate(zip(painted.labels, painted.masks), 1):
            file = f"masks/{stem}-{number:03}{f'-{place}' if kind == 'pairs' else ''}.png"
            Image.fromarray(np.uint8(255) * mask).convert("1").save(out / file, optimize=True)
            lines.append("\t".join([picture, NAMES[label], file, *map(str, bounds(mask))]))
    if kind != "concept":
        (out / f"{stem}s.tsv").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Paint pictures whose objects, textures and regions are known.")
    parser.add_argument("--kind", choices=["objects", "pairs", "concept"], required=True)
    parser.add_argument("--name", help="the texture of a concept, or random; the class of all objects")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=SIZE, help="pixels on each side")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    names = {"objects": [None, *NAMES], "pairs": [None], "concept": CONCEPTS}[arguments.kind]
    if arguments.name not in names:
        parser.error(f"--kind {arguments.kind}: --name is {arguments.name}, expected one of {', '.join(map(str, names))}")
    write_pictures(arguments.kind, arguments.name, arguments.count, arguments.seed, arguments.size, arguments.out)


if __name__ == "__main__":
    main()
