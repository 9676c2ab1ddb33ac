#!/usr/bin/env python3
"""Writes maps with what PyTorch's bilinear resizing and the Otsu thresholds of OpenCV and
scikit-image make of them.

Made with Python 3.11, torch 2.15.0, opencv-python-headless 5.0.0.93 and scikit-image 0.26.0
(pip install torch==2.15.0 opencv-python-headless==5.0.0.93 scikit-image==0.26.0).

    python scripts/golden/heat_map_golden.py tests/golden/heat_map
"""

import json
import sys
from pathlib import Path

import cv2
import numpy
import torch
from skimage.filters import threshold_otsu

# rows, columns -> height, width: doubled, no whole factor, a line, a single patch, smaller.
SIZES = [((2, 2), (8, 8)), ((5, 7), (17, 30)), ((1, 4), (5, 12)), ((1, 1), (3, 4)), ((6, 5), (2, 3))]
SAMPLED_ROWS = [0, 7, 8, 100, 215, 223]  # of 14 x 14 -> 224 x 224


def resized(patches, size):
    return torch.nn.functional.interpolate(patches[None, None], size=size, mode="bilinear",
                                           align_corners=False)[0, 0]


def bilinear_cases(generator):
    for (rows, columns), size in SIZES:
        patches = torch.rand(rows, columns, dtype=torch.float64, generator=generator) - 0.5
        yield {"rows": rows, "columns": columns, "patches": patches.flatten().tolist(),
               "height": size[0], "width": size[1], "lines": list(range(size[0])),
               "expected": resized(patches, size).tolist()}
    patches = torch.rand(14, 14, dtype=torch.float64, generator=generator)
    yield {"rows": 14, "columns": 14, "patches": patches.flatten().tolist(), "height": 224,
           "width": 224, "lines": SAMPLED_ROWS,
           "expected": resized(patches, (224, 224))[SAMPLED_ROWS].tolist()}


def otsu_cases(generator):
    uniform = torch.rand(400, dtype=torch.float64, generator=generator)
    hills = torch.cat([0.2 + 0.08 * torch.randn(300, dtype=torch.float64, generator=generator),
                       0.7 + 0.1 * torch.randn(100, dtype=torch.float64, generator=generator)])
    for name, values in {"uniform": uniform, "two hills": hills.clamp(0, 1),
                         "few bright": uniform ** 6, "two values": (uniform > 0.8).double()}.items():
        levels = (values.numpy() * 255).astype(numpy.uint8)  # as the authors' notebooks do
        opencv, mask = cv2.threshold(levels.reshape(20, 20), 0, 255,
                                     cv2.THRESH_BINARY + cv2.THRESH_OTSU)
        skimage = threshold_otsu(levels)
        assert ((levels > skimage) == (mask.flatten() > 0)).all(), name
        yield {"name": name, "values": values.tolist(), "opencv": int(opencv),
               "skimage": int(skimage), "inside": int((mask > 0).sum())}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(6)
    cases = {"bilinear": list(bilinear_cases(generator)), "otsu": list(otsu_cases(generator))}
    (folder / "expected.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
