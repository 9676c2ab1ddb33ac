"""Metrics of scores whose reason is known: a region, or a rationale."""

import numpy as np
import quantus
import sklearn.metrics

from score_orders import order_of, without_ties


def spans(chosen):
    edges = np.diff(np.concatenate([[0], np.asarray(chosen, dtype=int), [0]]))
    return list(zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)))


def eraser_f1(precision, recall):
    return 0 if precision == 0 or recall == 0 else 2 * precision * recall / (precision + recall)


def eraser_spans(chosen, known):
    """metrics.py, partial_match_score with the threshold 0.5: matches, predictions and rationales of an instance."""
    matches = 0
    for start, end in spans(chosen):
        own, best = set(range(start, end)), 0
        for first, last in spans(known):
            other = set(range(first, last))
            best = max(best, len(own & other) / len(own | other))
        matches += best >= 0.5
    return matches, len(spans(chosen)), len(spans(known))


def eraser_of_region(scores, region):
    """metrics.py, score_hard_rationale_predictions and _auprc, of the region's number of tokens."""
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[order_of(scores)[:region.sum()]] = True
    both = (chosen & region).sum()
    matches, predicted, known = eraser_spans(chosen, region)
    precision, recall, _ = sklearn.metrics.precision_recall_curve(region.astype(int), scores)
    return {"token-f1": eraser_f1(both / chosen.sum(), both / region.sum()),
            "iou-f1": eraser_f1(matches / predicted, matches / known), "auprc": sklearn.metrics.auc(recall, precision)}


def quantus_of_region(metric, scores, region):
    return float(metric.evaluate_batch(a_batch=scores[None, :], s_batch=region[None, :])[0])


def region_case(scores, region):
    ranked = without_ties(scores)
    top = max(1, round(len(scores) * 1000 / 224 ** 2))
    found = {**eraser_of_region(scores, region),
             "relevance-rank": quantus_of_region(quantus.RelevanceRankAccuracy(disable_warnings=True), ranked, region),
             "top-k-intersection": quantus_of_region(quantus.TopKIntersection(k=top, disable_warnings=True), ranked,
                                                     region)}
    if not region.all():
        found["roc-auc"] = sklearn.metrics.roc_auc_score(region, scores)
    return {"scores": scores.tolist(), "region": region.astype(int).tolist(), "metrics": found,
            "average_precision": sklearn.metrics.average_precision_score(region, scores)}


def region_cases(rng):
    for cells in (1, 2, 5, 12, 30, 120):
        for number in range(4):
            scores = np.round(rng.normal(size=cells), 3)
            if number % 2:
                scores = rng.integers(-1, 3, cells) / 2
            region = rng.random(cells) < (0.3, 0.6)[number // 2]
            region[rng.integers(cells)] = True
            yield region_case(scores, region)
    yield region_case(np.full(6, 0.1), np.arange(6) < 2)
    yield region_case(np.round(rng.normal(size=6), 3), np.ones(6, dtype=bool))


def eraser_micro(cases):
    """IOU-F1 over all instances: matches, predictions and rationales are summed first."""
    counts = np.zeros(3)
    for one in cases:
        region, chosen = np.array(one["region"], dtype=bool), np.zeros(len(one["scores"]), dtype=bool)
        chosen[order_of(np.array(one["scores"]))[:region.sum()]] = True
        counts += eraser_spans(chosen, region)
    return eraser_f1(counts[0] / counts[1], counts[0] / counts[2])


def pixels_of_quantus():
    """Top-k intersection with its own k of 1000, on 224 x 224 pixels whose scores and region are written down."""
    pixel = np.arange(224 * 224)
    scores, region = (pixel * 7919 % 50177).astype(float), pixel // 224 % 3 == 0
    return quantus_of_region(quantus.TopKIntersection(disable_warnings=True), scores, region)
