"""Values inside a model, read and changed, equal the command line's."""

import json
import pickle

import numpy as np
import pytest

import whyformer as wf

from conftest import SENTENCE, without_seconds


def test_values_have_names_and_axes(model):
    found = {value.name: value for value in model.values("blocks.0.attention.*")}
    assert found["blocks.0.attention.pattern"].axes == ["batch", "head", "query", "key"]
    assert len(model.values("blocks.*.output", SENTENCE)) == len(model.inspect().sites)


def test_reads_equal_the_command_line(model, command_line):
    printed, errors, _ = command_line("probe", SENTENCE, "--read", "blocks.*.output token=0", "--gradient", "words",
                                      "--edit", "zero blocks.1.attention.context head=0", "--json", "-")
    assert errors == ""
    recording = model.probe(SENTENCE, "blocks.*.output token=0", gradients="words",
                            edits=[wf.zero("blocks.1.attention.context", head=0)])
    assert json.loads(recording.to_json()) == json.loads(printed)


def test_arrays_share_memory_and_outlive_the_recording(model):
    recording = model.probe(SENTENCE, ["blocks.0.output", "logits"])
    first, second = recording["blocks.0.output"], recording["blocks.0.output"]
    assert first.ctypes.data == second.ctypes.data and first.dtype == np.float32
    expected = np.array(first)
    del recording, second
    assert np.array_equal(first, expected)


def test_patching_gives_the_other_answer(model):
    good, bad = model.probe("a good film", "blocks.*.output"), model.probe("a bad film")
    edit = good.copy("blocks.1.output")
    assert model.probe("a bad film", edits=[edit]).output.values == pytest.approx(good.output.values, abs=0)
    assert not np.array_equal(bad.output.values, good.output.values)
    assert good.copy("blocks.1.output", token=1).at == {"token": [1]}


def test_edits_are_the_same_after_json_and_pickle():
    edits = [wf.zero("blocks.1.attention.context", head=[0, 1]), wf.scale("blocks.0.output", 1 / 3),
             wf.add("blocks.0.output", np.linspace(0, 1, 7)), wf.noise("embeddings", 0.1, seed=3),
             wf.set_to("blocks.0.output", 2, token=-1), wf.permute("blocks.0.attention.pattern", "key", 4)]
    assert wf.edits.from_json(wf.edits.to_json(edits)) == edits
    assert pickle.loads(pickle.dumps(edits)) == edits
    assert str(edits[0]) == "zero blocks.1.attention.context head=0,1"


def test_explains_the_edited_model(model, command_line):
    text = "zero blocks.1.attention.context head=0"
    printed, _, _ = command_line("explain", SENTENCE, "--method", "gae,shap", "--edit", text, "--json", "-")
    result = model.explain(SENTENCE, ["gae", "shap"], edits=[text])
    assert without_seconds(result.to_dict()) == without_seconds(json.loads(printed))
    assert result.to_dict()["edits"] == [text]


def test_files_hold_what_was_read(model, tmp_path):
    recording = model.probe(SENTENCE, "blocks.*.output")
    recording.save(tmp_path / "values.safetensors")
    model.probe(SENTENCE, "blocks.0.output").save(tmp_path / "one.npy")
    assert np.array_equal(np.load(tmp_path / "one.npy"), recording["blocks.0.output"])
    safetensors = pytest.importorskip("safetensors.numpy")
    stored = safetensors.load_file(tmp_path / "values.safetensors")
    assert {name: array.shape for name, array in stored.items()} == {name: recording[name].shape for name in recording}
    assert all(np.array_equal(stored[name], recording[name]) for name in recording)


def test_mistakes_are_told(model):
    for wrong in [lambda: model.probe(SENTENCE, "layers.*"), lambda: model.probe([SENTENCE, SENTENCE], "logits"),
                  lambda: model.probe(SENTENCE, edits=[3]), lambda: wf.zero("blocks.0.output", token="a"),
                  lambda: model.probe(SENTENCE, "logits")["words"]]:
        with pytest.raises(wf.InvalidInput):
            wrong()
