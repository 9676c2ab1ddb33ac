"""Patching from Python equals the command line's, and says what it cannot do."""

import json

import numpy as np
import pytest

import whyformer as wf

CLEAN, CORRUPTED = "a truly wonderful film", "a truly terrible film"


def without_seconds(report: dict) -> dict:
    return {**report, "cost": {**report["cost"], "seconds": None}}


def test_heat_maps_equal_the_command_line(model, command_line, tmp_path):
    printed, errors, _ = command_line("patch", "--clean", CLEAN, "--corrupted", CORRUPTED, "--kind", "residual,heads",
                                      "--json", "-")
    assert errors == ""
    found = model.patch(CLEAN, CORRUPTED, kinds=["residual", "heads"])
    assert without_seconds(found.to_dict()) == without_seconds(json.loads(printed))
    residual = found["residual"]
    assert residual.effects.shape == (len(residual.rows), len(residual.columns))
    assert residual.columns[np.argmax(residual.effects[0])] == "terrible"
    assert residual.columns[np.argmax(residual.effects[-1])] == "[CLS]"
    for ending in ("json", "html", "svg", "png"):
        found.save(tmp_path / f"patches.{ending}")
    assert "Strongest" in str(found)
    assert list(residual.to_pandas().columns) == residual.columns


def test_a_cell_is_the_edit_of_the_same_name(model):
    clean = model.probe(CLEAN, "blocks.1.output", precision="double")
    found = model.patch(CLEAN, CORRUPTED, precision="double")
    target = found.clean["output"]["labels"].index(found.target)
    for token in range(len(found["residual"].columns)):
        edited = model.probe(CORRUPTED, edits=[clean.copy("blocks.1.output", token=token)], precision="double")
        change = edited.outputs[0, target] - found.corrupted_value
        assert found["residual"].changes[2, token] == pytest.approx(change, abs=1e-9)


def test_other_analyses(model):
    last = model.patch(CLEAN, lens=True)["answer"].effects[-1, 0]
    assert last == model.patch(CLEAN, lens=True).clean["value"]
    zero = model.patch(CLEAN, ablate="zero", precision="double")
    edited = model.probe(CLEAN, edits=[wf.zero("blocks.1.attention.context", head=0)], precision="double")
    target = zero.clean["output"]["labels"].index(zero.target)
    assert zero.grids[0].changes[1, 0] == pytest.approx(edited.outputs[0, target] - zero.clean["value"], abs=1e-9)
    traced = model.patch(CLEAN, noise={"tokens": [3], "draws": 3}, seed=1)
    assert traced["residual"].errors.shape == traced["residual"].effects.shape
    assert model.patch(CLEAN, CORRUPTED, metric="log-odds").metric == "log-odds"
    assert model.patch(CLEAN, CORRUPTED, path="output").grids[0].changes.shape == zero.grids[0].changes.shape
    assert len(model.patch(CLEAN, CORRUPTED, path=("query", 2, 1)).grids[0].rows) == 2


def test_mistakes_are_told(model):
    for wrong, says in [({}, "give corrupted"), ({"lens": True, "corrupted": CORRUPTED}, "one input"),
                        ({"lens": True, "ablate": "zero"}, "choose one"),
                        ({"lens": True, "kinds": "mlp"}, "leave it out"),
                        ({"corrupted": CORRUPTED, "kinds": "streams"}, "residual, attention"),
                        ({"corrupted": CORRUPTED, "path": ("query", 1)}, "give"),
                        ({"corrupted": CORRUPTED, "metric": "entropy"}, "metric"),
                        ({"noise": {"token": 1}}, "tokens, scale"),
                        ({"lens": True, "exact_share": 0.5}, "leave them out")]:
        with pytest.raises(wf.InvalidInput, match=says):
            model.patch(CLEAN, **wrong)
    with pytest.raises(KeyError, match="only residual"):
        model.patch(CLEAN, CORRUPTED)["heads"]
