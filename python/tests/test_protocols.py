"""Published evaluations by name."""

import json

import numpy as np
import pytest

import whyformer as wf
from whyformer import _roar


@pytest.fixture
def movies(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("the film is a warm and funny\nsurprise")
    evidence = [[{"docid": "a.txt", "start_token": 4, "end_token": 7, "text": "warm and funny"}]]
    annotation = {"annotation_id": "a.txt", "classification": "POS", "query": "", "evidences": evidence}
    (tmp_path / "test.jsonl").write_text(json.dumps(annotation) + "\n")
    return tmp_path


def test_eraser_folders_are_read_as_they_are(movies):
    found = wf.evaluate("sentiment", movies, ["gae"], protocol="eraser")
    assert found.protocol == "eraser"
    assert 0 <= found.table.loc["gae", "token-f1"] <= 1


def test_texts_with_rationales_are_the_same(movies):
    from_folder = wf.evaluate("sentiment", movies, ["gae"], protocol="eraser")
    given = wf.evaluate("sentiment", ["the film is a warm and funny surprise"], ["gae"], protocol="eraser",
                        labels=["POS"], rationales=[[(14, 28)]])
    np.testing.assert_allclose(given.table.loc["gae"].astype(float), from_folder.table.loc["gae"].astype(float))


def test_a_folder_is_explained_by_methods_that_fit(movies):
    found = wf.evaluate("sentiment", movies, protocol="eraser", examples=1)
    assert "gae" in found.table.index


def test_protocols_are_listed_and_not_mixed_with_metrics(movies):
    assert [one["name"] for one in wf.protocols()][:2] == ["cvpr21-perturbation", "cvpr21-segmentation"]
    with pytest.raises(wf.InvalidInput, match="the protocols are"):
        wf.evaluate("sentiment", movies, ["gae"], protocol="none", metrics=None)
    with pytest.raises(wf.InvalidInput, match="metrics of its own"):
        wf.evaluate("sentiment", movies, ["gae"], protocol="eraser", metrics="iou")


def test_roar_needs_a_training_procedure():
    with pytest.raises(wf.InvalidInput, match="trains the model again"):
        wf.evaluate("sentiment", ["good"], ["gae"], protocol="roar")


def test_roar_replaces_the_highest_columns_of_each_row():
    rows = np.array([[1.0, 2, 3], [4, 5, 6]])
    scores = np.array([[0.1, 0.9, 0.2], [5, 5, 1]])
    changed = _roar.without_highest(rows, scores, 1, np.array([10.0, 20, 30]))
    np.testing.assert_array_equal(changed, [[1, 20, 3], [10, 5, 6]])
    assert [_roar.columns_removed(share, 10) for share in _roar.SHARES] == [0, 1, 3, 5, 7, 9]
    assert _roar.columns_removed(0.1, 3) == 1
