"""Maskers of the shap package are taken as they are, and give that package's values."""

import numpy as np
import pytest

import whyformer as wf

shap = pytest.importorskip("shap", reason="its maskers are what is tested")


def worth(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]) + 2 * rows[:, 3]


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    return random.normal(size=(20, 5)), random.normal(size=5)


@pytest.mark.parametrize("kind", ["Independent", "Partition"])
def test_tables(table, kind):
    background, row = table
    masker = getattr(shap.maskers, kind)(background)
    theirs = shap.ExactExplainer(worth, shap.maskers.Independent(background))(row[None])
    ours = wf.shap(worth, masker, method="exact")(row)
    np.testing.assert_allclose(ours.values, theirs.values[0], atol=1e-9)
    np.testing.assert_allclose(ours.base_values, theirs.base_values[0], atol=1e-9)


def test_partition_of_a_clustered_table(table):
    background, row = table
    masker = shap.maskers.Partition(background)
    theirs = shap.PartitionExplainer(worth, masker)(row[None], max_evals=10000)
    ours = wf.shap(worth, masker, method="partition", max_evals=10000)(row)
    np.testing.assert_allclose(ours.values, theirs.values[0], atol=1e-9)


def test_texts():
    masker = shap.maskers.Text(r"\W+")
    count = lambda texts: np.array([text.count("good") * (1 - 2 * text.count("not")) for text in texts], float)
    text = "this is not a good film"
    theirs = shap.PartitionExplainer(count, masker)([text], max_evals=10000)
    ours = wf.shap(count, masker, method="partition", max_evals=10000)(text)
    np.testing.assert_allclose(ours.values, theirs.values[0], atol=1e-9)
    assert [name.strip() for name in ours.feature_names] == text.split()


def test_pictures():
    picture = np.random.default_rng(0).uniform(size=(8, 8, 3))
    masker = shap.maskers.Image(0.5, picture.shape)
    brightness = lambda batch: batch[:, :4, :4].mean(axis=(1, 2, 3))
    theirs = shap.PartitionExplainer(brightness, masker)(picture[None], max_evals=600)
    ours = wf.shap(brightness, masker, method="partition", max_evals=600)(picture)
    np.testing.assert_allclose(np.reshape(ours.values, picture.shape), theirs.values[0], atol=1e-6)
