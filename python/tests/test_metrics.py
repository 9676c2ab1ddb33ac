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

    return {"pointing-game": float(mask.flat[heat.argmax()]), "iou": overlap(chosen, mask),
            "iou-of-equal-area": overlap(largest, mask),
            "mean-iou": (overlap(chosen, mask) + overlap(~chosen, ~mask)) / 2,
            "relevance-mass": positive[mask].sum() / positive.sum()}


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
