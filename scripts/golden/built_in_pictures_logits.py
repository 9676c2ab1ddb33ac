#!/usr/bin/env python3
"""Logits of the built-in picture model for eight pictures of tests/data/pictures, by transformers in 32-bit floats.

    pip install torch==2.15.0 transformers==5.22.2 numpy==2.4.6 pillow==13.0.0
    python scripts/golden/built_in_pictures_logits.py
"""

import json
from pathlib import Path

import torch
from PIL import Image
from transformers import AutoImageProcessor, ViTForImageClassification

ROOT = Path(__file__).resolve().parents[2]


def main():
    torch.set_num_threads(1)
    model = ViTForImageClassification.from_pretrained(ROOT / "models/pictures", attn_implementation="eager", dtype=torch.float32).eval()
    processor = AutoImageProcessor.from_pretrained(ROOT / "models/pictures", backend="pil")
    folder = ROOT / "tests/data/pictures"
    pictures = [f"{kind}s/{kind}-{number:03}.png" for kind in ("object", "pair") for number in range(4)]
    logits = {}
    for picture in pictures:
        with torch.no_grad():
            pixels = processor(images=Image.open(folder / picture).convert("RGB"), return_tensors="pt").pixel_values
            logits[picture] = model(pixels).logits[0].tolist()
    labels = [model.config.id2label[i] for i in range(len(model.config.id2label))]
    (folder / "logits.json").write_text(json.dumps(dict(labels=labels, logits=logits), indent=1) + "\n")


if __name__ == "__main__":
    main()
