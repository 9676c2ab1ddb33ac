"""The methods of Chefer et al., CVPR 2021, as they are called here, measured by their protocols."""
import json
import sys
from pathlib import Path

import numpy as np
import whyformer as wf
from protocols import (TOP_WORDS, area_under_precision, marked_words, perturbation_area, segmentation_counts, token_f1,
                       word_scores)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import paint_pictures  # noqa: E402

SIDE = 96  # what the built-in picture model sees: no resizing between a mask and a map
AREAS = ["negative, predicted", "negative, target", "positive, predicted", "positive, target"]
# As the paper calls them: method, its options for pictures, its options for texts.
METHODS = {
    "rollout": ("rollout", {"preset": "chefer-vit-eval"}, {"preset": "chefer-bert"}),
    "raw attention": ("raw-attention", {}, {"preset": "chefer-bert"}),
    "GradCAM": ("grad-cam", {"preset": "chefer-vit"}, {"preset": "chefer-bert"}),
    "LRP": ("lrp", {"at": "pixels"}, {}),
    "partial LRP": ("partial-lrp", {}, {}),
    "transformer attribution": ("transformer-attribution", {"preset": "cvpr-vit"}, {"preset": "cvpr-bert"}),
}
PICTURE_METHODS = {name: (method, options) for name, (method, options, _) in METHODS.items()}
ABLATIONS = {
    "without gradient": ("transformer-attribution", {"preset": "without-gradient", "start": 1}),
    "last block only": ("transformer-attribution", {"preset": "last-block"}),
    "second block only": ("transformer-attribution", {"preset": "second-block"}),
    "full": ("transformer-attribution", {"preset": "cvpr-vit"}),
}


def painted(count, seed):
    """Pictures with the name and the mask of their object."""
    scenes = [paint_pictures.paint("objects", None, seed, number, SIDE) for number in range(count)]
    return [(scene.picture, paint_pictures.NAMES[scene.labels[0]], scene.masks[0]) for scene in scenes]


def heat_of(model, picture, target, method, options):
    """A score for each pixel: the method's own where it has them, patches enlarged otherwise."""
    found = model.explain(picture, method, options=options, target=target, progress=False)[method]
    pixels = found.pixels if options.get("at") == "pixels" else None
    return np.asarray(pixels) if pixels is not None else wf.metrics.enlarged(found.heat_map, *picture.shape[:2])


def measure_pictures(model, methods, scenes):
    """Areas by row [methods, pictures], and segmentation counts [methods, pictures, 7]."""
    areas = {name: np.zeros((len(methods), len(scenes))) for name in AREAS}
    counts = np.zeros((len(methods), len(scenes), 7))
    for at, (picture, label, mask) in enumerate(scenes):
        predicted = model(picture).label
        for row, (method, options) in enumerate(methods.values()):
            for kind, target in (("predicted", predicted), ("target", label)):
                if kind == "predicted" or target != predicted:  # else the target's map and areas are the same
                    heat = heat_of(model, picture, target, method, options)
                    area = {direction: perturbation_area(model, picture, heat, label, direction == "positive")
                            for direction in ("negative", "positive")}
                if kind == "predicted":
                    counts[row, at] = segmentation_counts(heat, mask)
                for direction, value in area.items():
                    areas[f"{direction}, {kind}"][row, at] = value
    return areas, counts


def measure_reviews(model, folder, count):
    """F1 by the number of words [methods, reviews, sizes], NaN where fewer are read, and AUPRC [methods, reviews]."""
    rows = [json.loads(line) for line in (folder / "val.jsonl").read_text(encoding="utf-8").splitlines()][:count]
    f1, precision = np.zeros((len(METHODS), len(rows), len(TOP_WORDS))), np.zeros((len(METHODS), len(rows)))
    names = [method for method, _, _ in METHODS.values()]
    options = {method: chosen for method, _, chosen in METHODS.values()}
    for at, row in enumerate(rows):
        text = " ".join((folder / "docs" / row["annotation_id"]).read_text(encoding="utf-8").split())
        found = model.explain(text, names, options=options, target=row["classification"], progress=False)
        marked = marked_words(row, len(text.split(" ")))
        for number, name in enumerate(names):
            scores = word_scores(text, found.units, found[name].scores)
            f1[number, at] = token_f1(scores, marked)
            precision[number, at] = area_under_precision(scores, marked)
    return f1, precision
