#!/usr/bin/env python3
"""Writes what the text masker of the shap package makes of 500 sentences (pieces, trees and masked texts), and the
groups of pixels in the tree of its image masker.

    python scripts/golden/text_masker_golden.py

Versions: shap 0.51.0, transformers 5.22.2, tokenizers 0.23.3, numpy 2.4.6.
"""

import gzip
import json
import pathlib

import numpy as np
import shap
from transformers import AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files of tests/golden/tokenizers, and what they leave out; the last has no mask token.
TOKENIZERS = [("bert_cased", {"sep_token": "[SEP]", "mask_token": "[MASK]"}),
              ("roberta", {"sep_token": "</s>", "mask_token": "<mask>"}),
              ("albert", {}), ("bert_cased", {})]
WORDS = """the a film movie story acting is was so very not never boring wonderful confusing brilliantly
it's don't actor's but and or But because unbelievable Übermaß café 3.5 naïve well-made mid-90s 電影 x""".split()
MARKS = [" ", " ", " ", " ", "  ", ", ", ". ", "! ", "? ", " (", ") ", "; ", "\n", "\n ", "\t", " [SEP] ", " [MASK] ", "'", "...", "-"]
SENTENCES = 500


def sentence(random):
    count = random.randint(1, 24)
    text = ""
    for _ in range(count):
        text += WORDS[random.randint(len(WORDS))]
        # Mostly plain blanks, as in real sentences.
        text += " " if random.rand() < 0.6 else MARKS[random.randint(len(MARKS))]
    return text if random.rand() < 0.2 else text.strip()


def masks_of(random, masker, text):
    free = ~masker.invariants(text)[0]
    masks = [np.ones(len(free), bool), ~free]
    masks += [~free | (random.rand(len(free)) < 0.5) for _ in range(3)]
    return masks


def groups_of(rows, columns):
    """The pixels under each node."""
    pixels = rows * columns
    tree = shap.maskers.Image(0, (rows, columns, 1)).clustering

    def under(node):
        node = int(node)
        if node < pixels:
            return [node]
        return under(tree[node - pixels, 0]) + under(tree[node - pixels, 1])

    return sorted(sorted(under(pixels + merge)) for merge in range(pixels - 1))


def write_grid_trees(folder):
    sizes = [(1, 5), (3, 3), (4, 4), (7, 7), (5, 9), (16, 3)]
    trees = [{"rows": rows, "columns": columns, "groups": groups_of(rows, columns)} for rows, columns in sizes]
    (folder / "grid_tree.json").write_text(json.dumps(trees, separators=(",", ":")))


def main():
    random = np.random.RandomState(7)
    sentences = [sentence(random) for _ in range(SENTENCES)]
    cases = []
    for number, text in enumerate(sentences):
        name, given = TOKENIZERS[number % len(TOKENIZERS)]
        tokenizer = AutoTokenizer.from_pretrained(ROOT / "tests/golden/tokenizers" / name, **given)
        masker = shap.maskers.Text(tokenizer)
        segments = [str(segment) for segment in masker.token_segments(text)[0]]
        separator = tokenizer.sep_token or ""
        masked = [] if "[SEP]" in text else [
            {"shown": [int(shown) for shown in mask], "text": str(masker(mask, text)[0][0])}
            for mask in masks_of(random, masker, text)]
        cases.append({
            "tokenizer": name, "text": text, "separator": separator, "mask": tokenizer.mask_token or "",
            "segments": segments,
            "merges": [[int(left), int(right)] for left, right in masker.clustering(text)[:, :2]],
            "masked": masked})
    folder = ROOT / "tests/golden/games"
    folder.mkdir(parents=True, exist_ok=True)
    write_grid_trees(folder)
    with gzip.GzipFile(folder / "text_masker.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(cases, ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
