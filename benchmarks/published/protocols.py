"""Three protocols of Chefer et al., CVPR 2021, example by example, from their definitions in plain NumPy.

`whyformer evaluate --protocol NAME` has them, too; this is another route to the same numbers.
"""
import numpy as np
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

SHARES = np.arange(10) / 10
TOP_WORDS = range(5, 85, 5)


# ------------------------------------------------------------------------------------- pictures

def scaled(heat):
    """From 0 to 1. A constant map has nothing to scale."""
    low, high = heat.min(), heat.max()
    return (heat - low) / (high - low) if high > low else np.zeros_like(heat)


def blackened(picture, heat, share, highest_first):
    """The pixels of the highest (or lowest) scores in black, before the model's own normalisation."""
    count = int(share * heat.size)
    order = np.argsort(-heat.ravel() if highest_first else heat.ravel(), kind="stable")
    result = picture.copy()
    result.reshape(-1, 3)[order[:count]] = 0
    return result


def perturbation_area(model, picture, heat, label, highest_first):
    """Percent: the area under "the label is still the true one" from none to 90 % of the pixels, x = 0 included."""
    steps = [blackened(picture, heat, share, highest_first) for share in SHARES]
    right = np.array([output.label == label for output in model(steps)], float)
    return 100 * np.trapezoid(right, SHARES) if hasattr(np, "trapezoid") else 100 * np.trapz(right, SHARES)


def segmentation_counts(heat, mask):
    """Of one picture: pixels right and in all, intersection and union of background and object, average precision."""
    scores = scaled(heat)
    found = scores > scores.mean()
    pairs = [(~found, ~mask), (found, mask)]
    # The authors' script turns the NaN of a constant map into 0 in both channels.
    background = 1 - scores if np.ptp(heat) > 0 else scores
    precision = average_precision_score(np.concatenate([~mask.ravel(), mask.ravel()]),
                                        np.concatenate([background.ravel(), scores.ravel()]))
    return np.array([(found == mask).sum(), mask.size, *((a & b).sum() for a, b in pairs),
                     *((a | b).sum() for a, b in pairs), precision])


def segmentation_values(counts):
    """Of many pictures [..., pictures, 7]: accuracy and mean IoU from sums, average precision as a mean; percent."""
    sums = counts.sum(axis=-2)
    return {"pixel accuracy": 100 * sums[..., 0] / sums[..., 1],
            "mAP": 100 * counts[..., 6].mean(axis=-1),
            "mIoU": 50 * (sums[..., 2] / sums[..., 4] + sums[..., 3] / sums[..., 5])}


# ---------------------------------------------------------------------------------------- texts

def word_scores(text, units, scores):
    """The highest score of each word's tokens, 0 at least; words that the model does not read have none (-1)."""
    starts = np.cumsum([0] + [len(word) + 1 for word in text.split(" ")])
    result = np.full(len(starts) - 1, -1.0)
    for unit, score in zip(units, scores):
        if not unit.special:
            word = np.searchsorted(starts, unit.start, side="right") - 1
            result[word] = max(result[word], score, 0.0)
    return result


def token_f1(scores, rationale):
    """F1 of the highest-ranked words and those that people marked, by number of words; NaN where fewer are read."""
    order = np.argsort(-scores, kind="stable")
    values = []
    for size in TOP_WORDS:
        chosen = order[:size][scores[order[:size]] >= 0]
        right = rationale[chosen].sum()
        values.append(2 * right / (size + rationale.sum()) if len(chosen) == size else np.nan)
    return np.array(values)


def area_under_precision(scores, rationale):
    """ERASER's AUPRC: trapezoids, not the average precision. Words that are not read have a score of 0."""
    precision, recall, _ = precision_recall_curve(rationale, scores.clip(0))
    return auc(recall, precision)


def marked_words(row, words):
    marked = np.zeros(words, bool)
    for evidence in (one for group in row["evidences"] for one in group):
        marked[evidence["start_token"]:evidence["end_token"]] = True
    return marked
