#!/usr/bin/env python3
"""Writes tests/golden/games/text_shap.json: what the shap package says of the built-in sentiment model.

    pip install torch==2.15.0 transformers==5.22.2 shap==0.51.0 numpy==2.4.6
    python scripts/golden/text_shap_golden.py

The model runs in float64 on the strings that shap's text masker makes, without padding. Cases are the Partition
explainer with all three contexts, whole and cut short; Kernel SHAP over the tokens that can be hidden.
"""

import json
import pathlib

import numpy as np
import shap
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = [
    "I like the movie",
    "She hates the book",
    "This is so boring",
    "I cannot wait for next time",
    "You look extremely confused",
    "An unpretentious, sociologically pointed slice of life (but not dull) that nobody's grandmother will forget.",
]
TARGET = 1


def main():
    torch.set_num_threads(1)
    folder = ROOT / "models/sentiment"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float64).eval()

    def logit(texts):
        with torch.no_grad():
            return np.array([model(**tokenizer(str(text), return_tensors="pt")).logits[0, TARGET].item()
                             for text in texts])

    masker = shap.maskers.Text(tokenizer)
    cases = []
    for text in TEXTS:
        for context, evaluations in [(None, 500), (0, 500), (1, 500), (None, 30), (1, 16)]:
            np.random.seed(3)
            explainer = shap.explainers.Partition(logit, masker)
            found = explainer([text], fixed_context=context, max_evals=evaluations, silent=True)
            cases.append({"text": text, "method": "partition-shap",
                          "context": "none" if context is None else str(context),
                          "max_evals": evaluations, "base": float(np.ravel(found.base_values)[0]),
                          "values": [float(value) for value in found.values[0]]})
        count = masker.shape(text)[1]
        free = [i for i, fixed in enumerate(masker.invariants(text)[0]) if not fixed]

        def masked(rows):
            masks = np.ones((len(rows), count), bool)
            masks[:, free] = np.asarray(rows) > 0.5
            return logit([masker(mask, text)[0][0] for mask in masks])

        np.random.seed(3)
        kernel = shap.KernelExplainer(masked, np.zeros((1, len(free))))
        values = np.zeros(count)
        values[free] = kernel.shap_values(np.ones(len(free)), nsamples=200, l1_reg="num_features(10)", silent=True)
        cases.append({"text": text, "method": "kernel-shap", "samples": 200, "base": float(kernel.expected_value),
                      "values": values.tolist()})
    out = {"seed": 3, "target": TARGET, "cases": cases}
    (ROOT / "tests/golden/games/text_shap.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
