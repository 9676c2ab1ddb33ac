"""The same answers as the command line's, as arrays that share memory."""

import json

import numpy as np
import pytest

import whyformer as wf

from conftest import SENTENCE, SOURCES, without_seconds

PICTURE = SOURCES / "tests" / "data" / "concepts"


@pytest.mark.parametrize("methods", [["gae", "rollout"], ["integrated-gradients", "leave-one-out", "lrp"],
                                     ["partition-shap", "kernel-shap", "lime"]])
def test_equals_the_command_line(model, command_line, methods):
    printed, _, _ = command_line("explain", SENTENCE, "--method", ",".join(methods), "--target", "positive", "--json",
                                 "-")
    result = model.explain(SENTENCE, methods, target="positive")
    assert without_seconds(result.to_dict()) == without_seconds(json.loads(printed))


def test_every_method_equals_the_command_line(model, command_line):
    names = [method.name for method in wf.methods()]
    printed, errors, _ = command_line("explain", "so bad it is good", "--method", ",".join(names), "--json", "-")
    result = model.explain("so bad it is good", names)
    assert errors == ""
    assert without_seconds(result.to_dict()) == without_seconds(json.loads(printed))


def test_options_equal_the_command_line(model, command_line):
    printed, _, _ = command_line("explain", SENTENCE, "--method", "rollout,integrated-gradients", "-o", "rollout.start=1",
                                 "-o", "integrated-gradients.steps=7", "--words", "max", "--json", "-")
    result = model.explain(SENTENCE, ["rollout", "integrated_gradients"], words="max",
                           options={"rollout": {"start": 1}, "integrated-gradients.steps": 7})
    assert without_seconds(result.to_dict()) == without_seconds(json.loads(printed))


def test_pair_equals_the_command_line(model, command_line):
    printed, _, _ = command_line("explain", "--text", "a film", "--pair", "a bore", "--method", "gae", "--json", "-")
    expected = without_seconds(json.loads(printed))
    assert without_seconds(model.explain("a film", "gae", pair="a bore").to_dict()) == expected
    assert without_seconds(model.explain(("a film", "a bore"), "gae").to_dict()) == expected


def test_scores_share_memory_and_cannot_be_written(model):
    result = model.explain(SENTENCE, "gae")
    first, second = result["gae"].scores, result["gae"].scores
    assert first.ctypes.data == second.ctypes.data
    assert first.dtype == np.float64
    with pytest.raises(ValueError):
        first[0] = 1


def test_scores_outlive_their_result(model):
    result = model.explain(SENTENCE, "gae")
    scores, expected = result["gae"].scores, np.array(result["gae"].scores)
    del result
    for _ in range(50):  # would reuse freed memory
        model.explain(SENTENCE, "gae")
    np.testing.assert_array_equal(scores, expected)


def test_attention_is_not_copied(model):
    trace = model.trace(SENTENCE)
    maps = [layer.values for layer in trace.attention]
    again = [layer.values for layer in trace.attention]
    assert [m.ctypes.data for m in maps] == [m.ctypes.data for m in again]
    for layer in maps:
        np.testing.assert_allclose(layer.sum(axis=-1), 1, atol=1e-5)


def test_attention_of_a_picture_with_a_text_comes_one_side_at_a_time():
    pairs = SOURCES / "tests" / "golden" / "pairs"
    clip, picture = wf.load(pairs / "model"), pairs / "picture.png"
    for use in (clip.attention, clip.trace):
        with pytest.raises(wf.InvalidInput, match="not supported: give the picture alone"):
            use(picture, pair="a dog")
    maps, traced = clip.attention(picture), clip.trace(picture).attention
    assert len(maps) == len(traced) > 0
    for one, other in zip(maps, traced):
        np.testing.assert_array_equal(one, other.values)


def test_attention_gradients_are_those_of_trace(model):
    gradients = model.attention_gradients(SENTENCE, "positive")
    assert len(gradients) == len(model.attention(SENTENCE)) == 4
    assert any(np.abs(layer).max() > 0 for layer in gradients)
    for one, other in zip(gradients, model.attention_gradients(SENTENCE, np.int64(1))):
        np.testing.assert_array_equal(one, other)


def test_words_units_and_tables(model):
    gae = model.explain(SENTENCE, ["gae", "rollout"])["gae"]
    assert [word.text for word in gae.words] == SENTENCE.split()
    assert gae.units[0].special and gae.units[0].text == "[CLS]"
    table = pytest.importorskip("pandas") and gae.to_pandas()
    assert list(table["score"]) == list(gae.scores)
    wide = gae.explanation.to_pandas(by="words")
    assert list(wide.columns) == ["text", "start", "end", "gae", "rollout"]
    assert list(wide["gae"]) == [word.score for word in gae.words]


def test_several_texts(model):
    results = model.explain([SENTENCE, "This is so boring"], "gae")
    assert len(results) == 2
    np.testing.assert_array_equal(results[0]["gae"].scores, model.explain(SENTENCE, "gae")["gae"].scores)
    assert results.to_json().count("\n") == 2
    assert results[:1].to_dict() == [results[0].to_dict()]
    assert "gae" in str(results.summary())


def test_answers(model):
    one = model(SENTENCE)
    np.testing.assert_array_equal(one.values, model.explain(SENTENCE, "gae").output.values)
    assert one.labels == ["negative", "positive"]
    assert one.label in one.labels
    assert one["positive"] == one.values[1]
    np.testing.assert_allclose(one.probabilities.sum(), 1)
    assert np.asarray(model([SENTENCE, "fine"])).shape == (2, 2)
    assert model([]) == []


def test_progress_is_told_and_can_raise(model):
    seen = []
    model.explain("one two three four five six seven eight", "permutation-shap", progress=lambda *at: seen.append(at))
    assert seen and all(done <= total for done, total in seen)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.explain("one two three four five six seven eight", "permutation-shap", progress=stop)


def test_progress_that_returns_false_keeps_what_there_is(model):
    text = "warm and never dull " * 15
    stopped = model.explain(text, ["gae", "leave-one-out", "rollout"], progress=lambda done, total: done == 0)
    assert stopped.methods == ["gae", "leave-one-out"]
    scores = stopped["leave-one-out"].scores
    missing = np.isnan(scores)
    assert missing.any() and not missing.all()
    whole = model.explain(text, "leave-one-out")[0].scores
    np.testing.assert_allclose(scores[~missing], whole[~missing], atol=1e-6)
    assert "Stopped after" in stopped["leave-one-out"].notes[0]
    assert len(model.explain([text, text, text], "gae", progress=lambda done, total: done < 2)) == 2


def test_inputs_of_a_list_have_the_scores_of_each_by_itself(model):
    texts = ["so good", "so bad", "a film that drags", "not so"]
    for text, together in zip(texts, model.explain(texts, ["gae", "rollout"])):
        alone = model.explain(text, ["gae", "rollout"])
        for method in ["gae", "rollout"]:
            np.testing.assert_array_equal(together[method].scores, alone[method].scores)


def test_threads_of_the_engine_do_not_change_a_result(model):
    before = wf.threads()
    try:
        wf.set_threads(1)
        one = model.explain(SENTENCE, ["gae", "lrp"])
        wf.set_threads(2)
        two = model.explain(SENTENCE, ["gae", "lrp"])
    finally:
        wf.set_threads(before)
    assert without_seconds(one.to_dict()) == without_seconds(two.to_dict())


def test_inspect_and_tokenize(model):
    info = model.inspect()
    assert len(info.sites) == 4 and "read-out" in repr(info)
    tokens = model.tokenize("Fine film")
    assert tokens.tokens[0] == "[CLS]" and len(tokens.ids) == len(tokens.offsets)


def test_methods_are_the_catalogue(command_line):
    printed, _, _ = command_line("methods", "--json")
    assert [method.name for method in wf.methods()] == [method["name"] for method in json.loads(printed)]


def test_heads_of_a_picture_model(painter, tmp_path):
    pictures = [np.random.default_rng(seed).integers(0, 256, (96, 96, 3), dtype=np.uint8) for seed in range(3)]
    found = painter.heads(pictures, [0, 1, 0])
    assert found.kind == "pictures" and found.labelled == 3
    assert found.values("confidence").shape == found.values("michel").shape
    with pytest.raises(wf.InvalidInput, match="3 pictures, but 1 labels"):
        painter.heads(pictures, [0])


def test_one_head_of_one_layer(model, painter, tmp_path):
    result = model.explain(SENTENCE, "gae")
    result.save_attention(tmp_path / "head.svg", 1, 0)
    assert "layer 1, head 0" in (tmp_path / "head.svg").read_text()
    with pytest.raises(wf.InvalidInput, match="there is no head 99"):
        result.save_attention(tmp_path / "head.svg", 1, 99)
    pytest.importorskip("matplotlib").use("Agg")
    ax = result.plot_attention(1, 0)
    np.testing.assert_array_equal(ax.images[0].get_array(), result.attention[1][0])
    with pytest.raises(wf.InvalidInput, match="there is no layer 99"):
        result.plot_attention(99, 0)
    picture = np.random.default_rng(0).integers(0, 256, (96, 96, 3), dtype=np.uint8)
    painted = painter.explain(picture, "gae")
    view = painted.picture
    shown = painted.plot_attention(0, 1).images[1].get_array()
    np.testing.assert_array_equal(np.ravel(shown), painted.attention[0][1][0][view.first_patch:])


def test_heads(model):
    found = model.heads([SENTENCE, "This is so boring"], ["positive", "negative"], prune={"step": 0.5})
    assert found.values("michel").shape == (4, 4)
    assert found.examples == 2


def test_roles_of_heads(model, tmp_path):
    found = model.heads([SENTENCE, "This is so boring"] * 8, roles={"permutations": 40})
    assert found.to_dict()["measures"] == []
    assert found.role(0, 0) is None or found.role(0, 0) in {one["name"] for one in found.roles["roles"]}
    found.save(tmp_path / "roles.html")
    assert "Roles" in (tmp_path / "roles.html").read_text()
    with pytest.raises(wf.InvalidInput, match="roles has no option 'shares'"):
        model.heads([SENTENCE], roles={"shares": 1})
    with pytest.raises(wf.InvalidInput, match="roles were not asked for"):
        model.heads([SENTENCE], measures="entropy").role(0, 0)
    trees = tmp_path / "trees.conllu"
    trees.write_text("1\tThe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tfilm\t_\t_\t_\t_\t0\troot\t_\t_\n")
    assert model.heads(conllu=trees).roles["syntax"]["arcs"] == 1


def test_learned(model, tmp_path):
    texts = [f"{word} film number {number}" for number in range(20) for word in ("good", "bad")]
    found = model.learned(texts, ["good", "bad"] * 20, layers=[0], shuffles=3)
    assert [one["layer"] for one in found.layers] == ["embeddings", 0]
    assert found.layers[0]["accuracy"]["accuracy"] == 1
    weights, intercepts = found.directions(0)
    assert weights.shape[0] == 2 and intercepts.shape == (2,)
    found.save_directions(tmp_path / "directions.npy")
    assert np.load(tmp_path / "directions.npy").shape == (2, *weights.shape)
    found.save_directions(tmp_path / "directions.safetensors")
    assert b"embeddings.weight" in (tmp_path / "directions.safetensors").read_bytes()
    assert list(found.to_pandas()["layer"]) == ["embeddings", 0]
    with pytest.raises(wf.InvalidInput, match="as many labels"):
        model.learned(texts, ["good"])


def test_methods_of_a_result_are_found_by_their_names(model):
    result = model.explain(SENTENCE, ["gae", "integrated-gradients"])
    assert "gae" in result and "integrated_gradients" in result and "rollout" not in result
    assert [one.method for one in result] == result.methods


def test_explain_without_loading(model):
    assert wf.explain(SENTENCE, "gae").to_dict()["text"] == SENTENCE
    assert without_seconds(wf.explain(SENTENCE, "gae", model=model).to_dict()) == \
        without_seconds(wf.explain(SENTENCE, "gae", model="sentiment").to_dict())
    assert wf.explain(SOURCES / "tests/data/pictures/pairs/pair-001.png", "gae").picture is not None
