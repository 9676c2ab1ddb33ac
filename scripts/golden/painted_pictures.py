#!/usr/bin/env python3
"""The painted pictures that tests read: tests/data/pictures (with masks) and tests/data/concepts (JPEG, for TCAV).

    pip install numpy==2.4.6 pillow==13.0.0
    python scripts/golden/painted_pictures.py
"""

import shutil
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import paint_pictures  # noqa: E402

SIZE = 96
# folder -> kind, name, count, seed; `others` is what concepts stand against
CONCEPTS = {
    "striped": ("concept", "striped", 40, 6003),
    "dotted": ("concept", "dotted", 40, 6003),
    "random": ("concept", "random", 40, 6003),
    "others": ("concept", "random", 80, 6004),
    "zebra": ("objects", "zebra", 40, 6003),
}


def main():
    pictures, concepts = ROOT / "tests/data/pictures", ROOT / "tests/data/concepts"
    for folder in (pictures / "objects", pictures / "pairs", concepts):
        shutil.rmtree(folder, ignore_errors=True)
    paint_pictures.write_pictures("objects", None, 24, 6001, SIZE, pictures / "objects")
    paint_pictures.write_pictures("pairs", None, 12, 6002, SIZE, pictures / "pairs")
    for folder, (kind, name, count, seed) in CONCEPTS.items():
        (concepts / folder).mkdir(parents=True)
        for number in range(count):
            picture = Image.fromarray(paint_pictures.paint(kind, name, seed, number, SIZE).picture)
            picture.save(concepts / folder / f"{number:02}.jpg", quality=85, optimize=True)


if __name__ == "__main__":
    main()
