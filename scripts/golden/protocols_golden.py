#!/usr/bin/env python3
"""Writes tests/golden/protocols.json: published protocols as their authors' scripts run them, in PyTorch and NumPy.

Made with Python 3.11, torch 2.15.0, transformers 5.23.0, scikit-learn 1.9.1, scipy 1.17.1, numpy 2.4.6, pillow 13.0.0:

    pip install torch==2.15.0 transformers==5.23.0 scikit-learn==1.9.1 scipy==1.17.1 numpy==2.4.6 pillow==13.0.0
    python scripts/golden/protocols_golden.py

What is measured are scores drawn here, so that no method is needed; the models are those of models/ and of
tests/golden/pairs. Step by step as in

- hila-chefer/Transformer-Explainability, baselines/ViT/pertubation_eval_from_hdf5.py and imagenet_seg_eval.py with
  utils/metrices.py (`cvpr21-perturbation`, `cvpr21-segmentation`);
- eclique/RISE, evaluation.py (`rise`);
- hila-chefer/Transformer-MM-Explainability, lxmert/lxmert/perturbation.py (`vqa-perturbation`);
- jayded/eraserbenchmark, rationale_benchmark/metrics.py, with the word scores of Transformer-Explainability's
  BERT_rationale_benchmark (`eraser`).

They sort in an order that leaves ties open; here ties go by index. Where their words shift behind an unknown token, words
are known by their places instead.
"""

import json
import pathlib

import numpy as np
import scipy.ndimage
import sklearn.metrics
import torch
import torch.nn.functional as F
from PIL import Image
from transformers import AutoImageProcessor, AutoTokenizer, BertForSequenceClassification, CLIPModel, \
    ViTForImageClassification

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "tests/golden/protocols.json"
OBJECTS = ROOT / "tests/data/pictures/objects"
REVIEW = ("a charming and often affecting journey , though the writer-director unraveled it near the end "
          "and it isn't as good as it could have been")
MARKED = [1, 2, 3, 4, 5, 20]  # words


def descending(values):
    return np.argsort(-np.asarray(values), kind="stable")


def area(y, x):
    return float(np.trapezoid(y, x))


# ------------------------------------------------------------------------------------------------------------ pictures

class Pictures:
    def __init__(self):
        self.model = ViTForImageClassification.from_pretrained(ROOT / "models/pictures", dtype=torch.float32).eval()
        self.processor = AutoImageProcessor.from_pretrained(ROOT / "models/pictures", backend="pil")

    @torch.no_grad()
    def logits(self, pixels):
        """Of pictures [n, 3, height, width] after normalisation."""
        return torch.cat([self.model(part).logits for part in torch.as_tensor(pixels, dtype=torch.float32).split(32)])


def enlarged(patches, side):
    """As `upsample(bilinear)` of the authors, then min-max."""
    patches = torch.tensor(patches, dtype=torch.float64)[None, None]
    heat = F.interpolate(patches, size=(side, side), mode="bilinear", align_corners=False)[0, 0]
    return ((heat - heat.min()) / (heat.max() - heat.min())).numpy()


def perturbation(pictures, levels, heat, label):
    """Accuracy and its area in per cent; `levels` are bytes [side, side, 3], black before the normalisation."""
    results = {}
    for name, scores in (("positive", heat), ("negative", -heat)):
        order, right = descending(scores.ravel()), []
        for share in range(10):
            data = levels.reshape(-1, 3).copy()
            data[order[:int(levels.shape[0] * levels.shape[1] * (share / 10))]] = 0
            normalised = (data.reshape(levels.shape) / 255 - 0.5) / 0.5
            right.append(float(pictures.logits(normalised.transpose(2, 0, 1)[None]).argmax() == label))
        results[name] = {"accuracy": [100 * one for one in right],
                         "area": 100 * area(right, np.arange(10) / 10)}
    return results


def segmentation(heat, mask):
    """One picture's pixel accuracy, mean IoU and average precision in per cent."""
    heat = (heat - heat.min()) / (heat.max() - heat.min())
    found = heat > heat.mean()
    inter = [np.logical_and(~found, ~mask).sum(), np.logical_and(found, mask).sum()]
    union = [np.logical_or(~found, ~mask).sum(), np.logical_or(found, mask).sum()]
    stacked = np.stack([1 - heat, heat])
    one_hot = np.stack([~mask, mask])
    precision = sklearn.metrics.average_precision_score(one_hot.ravel(), stacked.ravel())
    return {"pixel-accuracy": 100 * float((found == mask).mean()),
            "mean-iou": 100 * float(np.mean(np.array(inter) / (np.spacing(1) + np.array(union)))),
            "mean-average-precision": 100 * float(precision)}


def causal_metric(pictures, pixels, heat, mode):
    """evaluation.py, CausalMetric: a row's number of pixels in each step."""
    side = heat.shape[0]
    kernel = np.zeros((11, 11))
    kernel[5, 5] = 1
    kernel = scipy.ndimage.gaussian_filter(kernel, 5)
    weight = torch.zeros(3, 3, 11, 11)
    for channel in range(3):
        weight[channel, channel] = torch.tensor(kernel)
    blurred = F.conv2d(pixels[None], weight, padding=5)[0]
    start, finish = (pixels, torch.zeros_like(pixels)) if mode == "deletion" else (blurred, pixels)
    chosen = int(pictures.logits(pixels[None]).argmax())
    order, current, steps = descending(heat.ravel()), start.clone().reshape(3, -1), []
    for step in range(side + 1):
        steps.append(current.reshape(3, side, side).clone())
        changed = order[side * step:side * (step + 1)]
        current[:, changed] = finish.reshape(3, -1)[:, changed]
    curve = pictures.logits(torch.stack(steps)).softmax(-1)[:, chosen].double().numpy()
    return float((curve.sum() - curve[0] / 2 - curve[-1] / 2) / (len(curve) - 1))


def picture_cases(rng):
    pictures = Pictures()
    for number in range(4):
        name = f"object-{number:03}.png"
        levels = np.array(Image.open(OBJECTS / name).convert("RGB"))
        mask = np.array(Image.open(OBJECTS / "masks" / name).convert("L")) > 0
        pixels = pictures.processor(images=Image.fromarray(levels), return_tensors="pt").pixel_values[0]
        predicted = int(pictures.logits(pixels[None]).argmax())
        # Scores that know something of the object, so that curves are not flat.
        inside = mask.reshape(12, 8, 12, 8).mean(axis=(1, 3))
        patches = np.round(inside + (0.3 + 0.4 * number) * rng.normal(size=(12, 12)), 4)
        heat = enlarged(patches, 96)
        label = predicted if number != 2 else (predicted + 1) % 6
        yield {"picture": name, "patches": patches.ravel().tolist(), "label": label,
               "perturbation": perturbation(pictures, levels, heat, label),
               "segmentation": segmentation(heat, mask),
               "rise": {mode: causal_metric(pictures, pixels, heat, mode) for mode in ("deletion", "insertion")}}


# --------------------------------------------------------------------------------------------------------------- texts

def word_prf(words, marked):
    """score_hard_rationale_predictions: F1 over tokens of one document."""
    right = len(set(words) & set(marked))
    precision, recall = right / len(words), right / len(marked)
    return 2 * precision * recall / (precision + recall) if right else 0.0


def eraser_cases(rng):
    folder = ROOT / "models/sentiment"
    model = BertForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(REVIEW, return_offsets_mapping=True)
    ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
    starts = np.cumsum([0] + [len(word) + 1 for word in REVIEW.split(" ")])
    words = len(starts) - 1
    word_of = [int(np.searchsorted(starts, start, side="right")) - 1 for start, _ in offsets]
    pieces = range(1, len(ids) - 1)

    @torch.no_grad()
    def probabilities(removed):
        kept = [token for at, token in enumerate(ids) if at not in pieces or word_of[at] not in removed]
        return model(input_ids=torch.tensor([kept])).logits[0].softmax(-1).double().numpy()

    marked = np.isin(np.arange(words), MARKED)
    for _ in range(3):
        scores = np.round(rng.normal(size=len(ids)), 4)
        of_words = np.zeros(words)
        for at in pieces:
            of_words[word_of[at]] = max(of_words[word_of[at]], scores[at], 0)
        order = descending(of_words)
        f1 = {size: word_prf(order[:size].tolist(), MARKED) for size in range(5, 85, 5) if size <= words}
        precision, recall, _ = sklearn.metrics.precision_recall_curve(marked, of_words)
        whole = probabilities([])
        best = int(whole.argmax())
        sizes = [max(1, round(share * words)) for share in (0.01, 0.05, 0.1, 0.2, 0.5)]
        drops = [[whole[best] - probabilities(set(some.tolist()))[best] for size in sizes for some in [part(size)]]
                 for part in (lambda size: order[:size], lambda size: order[size:])]
        yield {"scores": scores.tolist(), "f1": list(f1.values()),
               "auprc": float(sklearn.metrics.auc(recall, precision)),
               "comprehensiveness": float(np.mean(drops[0])), "sufficiency": float(np.mean(drops[1]))}


# --------------------------------------------------------------------------------------------------------------- pairs

class Pair:
    """A small CLIP that reads some tokens and some patches."""

    def __init__(self, text):
        folder = ROOT / "tests/golden/pairs"
        self.model = CLIPModel.from_pretrained(folder / "model", dtype=torch.float64,
                                               attn_implementation="eager").eval()
        self.ids = AutoTokenizer.from_pretrained(folder / "model")(text)["input_ids"]
        levels = np.array(Image.open(folder / "picture.png").convert("RGB"))
        self.pixels = torch.tensor((levels / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]

    @torch.no_grad()
    def logit(self, tokens, patches):
        """Tokens that stay move up; patches that stay keep their positions."""
        vision = self.model.vision_model
        rows = vision.embeddings(self.pixels)[:, [0, *(1 + patch for patch in patches)]]
        states = vision.encoder(inputs_embeds=vision.pre_layrnorm(rows)).last_hidden_state
        picture = self.model.visual_projection(vision.post_layernorm(states[:, 0]))
        kept = [self.ids[0], *(self.ids[1 + token] for token in tokens), self.ids[-1]]
        text = self.model.get_text_features(input_ids=torch.tensor([kept]))
        text = getattr(text, "pooler_output", text)
        cosine = F.cosine_similarity(picture, text).item()
        return cosine * self.model.logit_scale.exp().item()


STEPS = [0, 0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 1]


def pair_cases(rng):
    text = "a red ball on the grass"
    pair = Pair(text)
    tokens, patches = len(pair.ids) - 2, 9
    for _ in range(2):
        scores = {"first": np.round(rng.normal(size=patches), 4), "second": np.round(rng.normal(size=tokens), 4)}
        case = {"text": text, "patches": scores["first"].tolist(), "tokens": scores["second"].tolist()}
        for side, own in scores.items():
            for name, sign in (("positive", -1), ("negative", 1)):
                answers = []
                for step in STEPS:
                    kept = sorted(descending(sign * own)[:int((1 - step) * len(own))].tolist())
                    both = {"first": range(patches), "second": range(tokens), side: kept}
                    answers.append(pair.logit(both["second"], both["first"]))
                case[f"{name}-{side}"] = area(answers, STEPS)
        yield case


def main():
    torch.set_num_threads(1)
    rng = np.random.default_rng(21)
    groups = {"pictures": picture_cases(rng), "eraser": eraser_cases(rng), "pairs": pair_cases(rng)}
    texts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]" for name, cases in groups.items()]
    review = json.dumps({"text": REVIEW, "marked": MARKED})
    FILE.write_text("{\n" + f'"review": {review},\n' + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    main()
