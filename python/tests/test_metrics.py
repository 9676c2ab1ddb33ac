"""Metrics of explanations against known regions."""

import csv

import numpy as np
import pytest

import whyformer as wf

from conftest import SOURCES, script


def in_plain_numpy(heat: np.ndarray, mask: np.ndarray) -> dict:
    """Every metric of one map by its formula."""
    largest = np.zeros(heat.size, dtype=bool)
    largest[np.argsort(-heat, axis=None, kind="stable")[:mask.sum()]] = True
    largest = largest.reshape(heat.shape)
    chosen, positive = heat > heat.mean(), heat.clip(min=0)

    def overlap(a, b):
        return (a & b).sum() / (a | b).sum()

    order = np.argsort(-heat, axis=None, kind="stable")
    top = order[:max(1, round(heat.size * 1000 / 224 ** 2))]
    inside, outside = heat[mask], heat[~mask]
    rank = (largest & mask).sum() / mask.sum()
    return {"pointing-game": float(mask.flat[heat.argmax()]), "iou": overlap(chosen, mask),
            "iou-of-equal-area": overlap(largest, mask),
            "mean-iou": (overlap(chosen, mask) + overlap(~chosen, ~mask)) / 2,
            "relevance-mass": positive[mask].sum() / positive.sum(), "relevance-rank": rank,
            "top-k-intersection": mask.flat[top].mean(),
            "roc-auc": (np.greater.outer(inside, outside) + 0.5 * np.equal.outer(inside, outside)).mean(),
            "auprc": area_under_precision(heat, mask), "token-f1": rank, "iou-f1": span_f1(largest.ravel(), mask.ravel())}


def area_under_precision(heat, mask):
    thresholds = np.unique(heat)[::-1]
    found = np.array([(mask & (heat >= one)).sum() for one in thresholds])
    recall = np.concatenate([[0], found / mask.sum()])
    precision = np.concatenate([[1], found / [(heat >= one).sum() for one in thresholds]])
    return (np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum()


def span_f1(chosen, known):
    def spans(units):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], units.astype(int), [0]])))
        return [set(range(*one)) for one in edges.reshape(-1, 2)]

    matches = sum(any(len(one & other) >= 0.5 * len(one | other) for other in spans(known)) for one in spans(chosen))
    return 2 * matches / (len(spans(chosen)) + len(spans(known)))


def map_and_mask(seed: int):
    random = np.random.default_rng(seed)
    mask = np.zeros((24, 36), dtype=bool)
    mask[5:15, 8:20] = True
    return wf.metrics.enlarged(random.normal(size=(4, 6)), 24, 36), mask


def test_every_metric_equals_its_formula_in_numpy():
    for seed in range(5):
        heat, mask = map_and_mask(seed)
        found = wf.metrics.localisation(heat, mask)
        assert list(found) == [metric.name for metric in wf.metrics.catalogue() if metric.needs == "region"]
        assert found == pytest.approx(in_plain_numpy(heat, mask), abs=1e-12)


def test_over_many_maps_means_are_taken_and_mean_iou_sums_cells_first():
    both = wf.metrics.Localisation(["iou", "mean-iou"])
    heats, masks = zip(*(map_and_mask(seed) for seed in range(3)))
    for heat, mask in zip(heats, masks):
        both.add(heat, mask)
    found = both.values()
    assert found["iou"] == pytest.approx(np.mean([in_plain_numpy(*one)["iou"] for one in zip(heats, masks)]))
    # The mean of each map is its own threshold, so that one large map is what they are together.
    above = np.concatenate([heat - heat.mean() > 0 for heat in heats]).astype(float)
    assert found["mean-iou"] == pytest.approx(in_plain_numpy(above, np.concatenate(masks))["mean-iou"])


def test_the_heat_map_of_a_painted_object_lies_on_it(painter):
    Image = pytest.importorskip("PIL.Image")
    folder = SOURCES / "tests" / "data" / "pictures" / "objects"
    row = next(csv.DictReader((folder / "objects.tsv").open(), delimiter="\t"))
    mask = np.asarray(Image.open(folder / row["mask"]).convert("L")) > 127
    scores = painter.explain(folder / row["picture"], ["gae"], target=row["class"])["gae"].heat_map
    found = wf.metrics.localisation(wf.metrics.enlarged(scores, *mask.shape), mask)
    assert found["pointing-game"] == 1
    assert found["relevance-mass"] > mask.mean()


def test_a_metric_that_is_not_defined_is_none_and_not_0():
    heat, nothing = np.array([[0.5, -1], [2, 1]]), np.zeros((2, 2), bool)
    assert wf.metrics.relevance_rank(heat, nothing) is None
    assert wf.metrics.roc_auc(heat, ~nothing) is None
    assert wf.metrics.relevance_mass(-np.abs(heat), ~nothing) is None
    many = wf.metrics.Localisation(["roc-auc"])
    many.add(heat, nothing)
    assert many.values() == {"roc-auc": None}
    many.add(heat, heat > 0.7)
    assert many.values() == {"roc-auc": 1}


def test_shap_curves_and_picture_metrics_of_any_function():
    weights, scores = np.array([0.4, -0.2, 0.1]), [3, -2, 1]

    def answers(hidden):
        return 0.5 + (~hidden).astype(float) @ weights

    assert wf.metrics.keep_negative(scores, answers) < 0 < wf.metrics.remove_negative(scores, answers)
    # 0.8 falls to 0.4, 0.3 and 0.5.
    assert wf.metrics.region_perturbation(scores, answers) == pytest.approx((0.4 + 0.5 + 0.3) / 4)
    assert wf.metrics.irof(scores, answers) == pytest.approx((0.4 + 0.5 + 0.3) / 3 / 0.8)
    assert wf.metrics.road(scores, answers) is None  # numbers have no label to keep


def test_what_cannot_be_judged_is_named():
    with pytest.raises(wf.InvalidInput, match=r"scores \[2, 2\] and region \[4, 4\] must have one shape"):
        wf.metrics.localisation(np.ones((2, 2)), np.ones((4, 4), bool))
    with pytest.raises(wf.InvalidInput, match="no metric 'pointing'; the metrics are comprehensiveness"):
        wf.metrics.Localisation(["pointing"])
    with pytest.raises(wf.InvalidInput, match="no map was added"):
        wf.metrics.Localisation(["iou"]).values()


def test_the_page_of_metrics_is_up_to_date():
    assert (SOURCES / "docs" / "metrics.md").read_text(encoding="utf-8") == script("generate_metric_docs").page(), \
        "run scripts/generate_metric_docs"


def test_robustness_reads_scores_of_noisy_inputs():
    random = np.random.default_rng(4)
    scores, noisy, lengths = random.normal(size=6), random.normal(size=(3, 6)), [0.5, 2.0, 1.0]
    changes = np.linalg.norm(noisy - scores, axis=1)
    assert wf.metrics.max_sensitivity(scores, noisy, lengths) == pytest.approx(
        changes.max() / np.linalg.norm(scores), abs=1e-12)
    assert wf.metrics.local_lipschitz(scores, noisy, lengths) == pytest.approx((changes / lengths).max(), abs=1e-12)
    with pytest.raises(wf.InvalidInput, match="3 noisy inputs, but 2 distances"):
        wf.metrics.max_sensitivity(scores, noisy, lengths[:2])
    with pytest.raises(wf.InvalidInput, match="6 scores, but 5 of a noisy input"):
        wf.metrics.max_sensitivity(scores, noisy[:, :5], lengths)
