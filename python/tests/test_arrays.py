"""ONNX files that nobody prepared: given arrays, rows, texts or pictures."""

import json
import pickle

import numpy as np
import pytest

import whyformer as wf

from conftest import SOURCES, without_seconds

MODELS = SOURCES / "tests" / "golden" / "onnx" / "models"
T5 = MODELS / "t5.eager.new.18.onnx"
TABLES = MODELS / "ft-transformer.sdpa.legacy.14.onnx"
INPUTS = {"input_ids": np.array([[5, 6, 7, 8, 9, 3, 2, 1]]), "decoder_input_ids": np.array([[0, 4, 5]])}


@pytest.fixture(scope="module")
def t5():
    return wf.load(T5, arrays=True)


def test_errors_say_what_to_write_in_python(t5):
    with pytest.raises(wf.InvalidInput, match=r"set the hiding id \(hiding_id=N\)"):
        t5.explain(INPUTS, "leave-one-out")


def test_a_model_of_texts_without_its_tokenizer_takes_arrays(t5):
    model = wf.load(T5)
    assert model.reads == "arrays"
    for name, array in model(INPUTS).items():
        np.testing.assert_array_equal(array, t5(INPUTS)[name])
    for use in (model, model.explain, model.attention):
        with pytest.raises(wf.FileError, match="no tokenizer: put tokenizer.json"):
            use("a text")
    with pytest.raises(wf.FileError, match="no tokenizer: put tokenizer.json"):
        wf.load(T5, output="output")


def test_a_batch_is_where_it_is_said_to_be():
    tokens_first = MODELS.parent / "layouts" / "tokens-first.onnx"
    given = {"numbers": np.ones((5, 3, 4), np.float32)}
    found = wf.load(tokens_first, arrays=True).inspect(given)
    assert any("tokens in front of the batch" in note for note in found.notes)
    told = wf.load(tokens_first, arrays=True, batch_axes={"numbers": None}).inspect(given)
    assert any("no axis for a batch" in note for note in told.notes)
    assert wf.load(tokens_first, arrays=True, batch_axes={"numbers": 1}).inspect(given).notes == found.notes
    with pytest.raises(wf.InvalidInput, match="other"):
        wf.load(tokens_first, arrays=True, batch_axes={"other": 1}).inspect(given)
    with pytest.raises(wf.InvalidInput, match="arrays=True"):
        wf.load(tokens_first, batch_axes={"numbers": 1})


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = dict(dtype="I64", shape=list(array.shape), data_offsets=[offset, offset + array.nbytes])
        offset += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for array in arrays.values()))


def test_a_file_of_another_kind_takes_arrays(t5):
    assert isinstance(t5, wf.Model) and t5.reads == "arrays"
    outputs = t5(INPUTS)
    assert set(outputs) == set(t5.outputs)
    assert all(np.isfinite(array).all() for array in outputs.values())
    kinds = {site.kind for site in t5.inspect(INPUTS).sites}
    assert kinds == {"self", "cross"}


def test_arrays_equal_the_command_line(t5, command_line, tmp_path):
    write_safetensors(tmp_path / "inputs.safetensors", INPUTS)
    printed, errors, code = command_line("explain", "--model", T5, "--inputs", tmp_path / "inputs.safetensors",
                                         "--method", "gae,rollout,saliency", "--json", "-")
    assert code == 0, errors
    result = t5.explain(INPUTS, ["gae", "rollout", "saliency"])
    assert without_seconds(result.to_dict()) == without_seconds(json.loads(printed))
    encoder, decoder = result.by_stream("gae")
    assert len(encoder) == 8 and len(decoder) == 3
    np.testing.assert_array_equal(np.concatenate([encoder, decoder]), result["gae"].scores)


def test_options_reach_models_of_arrays(t5):
    assert t5.explain(INPUTS, "rollout", options={"fusion": "max"})["rollout"].options["fusion"] == "max"


def test_maps_of_arrays(t5):
    for layer in t5.attention(INPUTS):
        np.testing.assert_allclose(layer.sum(axis=-1), 1, atol=1e-5)
    assert len(t5.attention_gradients(INPUTS)) == len(t5.attention(INPUTS))


def test_a_trace_of_arrays_holds_every_output(t5):
    trace = t5.trace(INPUTS)
    assert [stream.tokens for stream in trace.streams] == [8, 3]
    for name, values in t5(INPUTS).items():
        np.testing.assert_allclose(trace.arrays[f"output.{name}"], values, atol=1e-5)


def test_an_element_of_an_output_is_explained(t5):
    logits = t5(INPUTS)[t5.outputs[0]]
    result = t5.explain(INPUTS, "saliency", output=t5.outputs[0], element=(0, 2, 7))
    assert result.target.label == f"{t5.outputs[0]}[0,2,7]"
    np.testing.assert_allclose(result.target.value, logits[0, 2, 7], atol=1e-5)
    assert result.read_out


def test_a_model_of_arrays_is_stored_with_how_it_was_loaded(t5):
    again = pickle.loads(pickle.dumps(t5))
    for name, values in t5(INPUTS).items():
        np.testing.assert_array_equal(again(INPUTS)[name], values)


def test_arguments_of_other_kinds_of_input_are_refused(t5, model):
    for option in (dict(pair="x"), dict(background=np.zeros((1, 2))), dict(target=1)):
        with pytest.raises(wf.InvalidInput, match=f"{next(iter(option))}= does not go with arrays"):
            t5.explain(INPUTS, "gae", **option)
    for option in (dict(output="logits"), dict(element=(0, 1)), dict(hiding_id=3)):
        with pytest.raises(wf.InvalidInput, match=f"{next(iter(option))}= goes with arrays"):
            model.explain("good", "gae", **option)
    with pytest.raises(wf.InvalidInput, match="texts"):
        model.explain(INPUTS, "gae")


def test_scores_of_one_stream_are_all_scores(model):
    result = model.explain("good", "gae")
    (whole,) = result.by_stream()
    np.testing.assert_array_equal(whole, result["gae"].scores)


def test_wrong_arrays(t5):
    with pytest.raises(wf.InvalidInput, match="dictionary"):
        t5([1, 2, 3])
    with pytest.raises(wf.InvalidInput, match="input_ids"):
        t5.explain({"input_ids": np.array([[999999]]), "decoder_input_ids": np.array([[0]])})
    with pytest.raises(wf.InvalidInput, match="type"):
        t5({"input_ids": np.array(["a"])})


def test_rows_of_a_table():
    model = wf.load(TABLES)
    assert model.reads == "tables"
    rows = np.random.default_rng(1).integers(0, 2, size=(6, 7)).astype(float)  # four numbers, three categories
    outputs = model(rows)
    assert len(outputs) == 6
    result = model.explain(rows[0], "shap", background=rows)
    np.testing.assert_allclose(result.output.values, outputs[0].values, atol=1e-6)
    assert abs(result["shap"].completeness_gap or 0) < 1e-4
    with pytest.raises(wf.InvalidInput):
        model(np.zeros((2, 8)))


def test_pictures(painter, command_line, tmp_path):
    file = next((SOURCES / "tests" / "data" / "concepts" / "zebra").glob("*.jpg"))
    printed, errors, code = command_line("explain", file, "--method", "gae,grad-cam", "--json", "-")
    assert code == 0, errors
    expected = without_seconds(json.loads(printed))
    result = painter.explain(file, ["gae", "grad-cam"])
    assert without_seconds(result.to_dict()) == expected
    Image = pytest.importorskip("PIL.Image")
    for given in (Image.open(file), np.asarray(Image.open(file).convert("RGB"))):
        other = painter.explain(given, ["gae", "grad-cam"])
        np.testing.assert_array_equal(other["gae"].scores, result["gae"].scores)
    picture = result.picture
    assert result["gae"].heat_map.shape == (picture.rows, picture.columns)
    assert np.shares_memory(result["gae"].heat_map, result["gae"].scores)
    for name in ("x.html", "x.json", "x.png", "x.svg"):
        result.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    several = painter.explain(file, "gae", top=2)
    assert len(several) == 2
    several.save(tmp_path / "two.html")


def test_concepts(painter, tmp_path):
    folder = SOURCES / "tests" / "data" / "concepts"
    report = wf.tcav(painter, concepts={"striped": folder / "striped"}, random=[folder / "random"],
                     targets={"zebra": folder / "zebra"}, layers=[2], counterparts=10, permutations=100)
    assert report.to_dict()["schema"] == "whyformer.tcav/1"
    assert len(report.tests) == 1
    report.save(tmp_path / "concepts.svg")
    assert len(report.to_pandas()) == 1
    assert "striped" in str(report)


def onnx_field(number: int, content: bytes | str | int) -> bytes:
    """One field of a protobuf message; everything here is shorter than 128 bytes."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    content = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2, len(content)]) + content


def onnx_product_of_rows(weight: np.ndarray) -> bytes:
    """logits = x · weight, for any number of rows."""

    def value(name, *axes):
        shape = b"".join(onnx_field(1, onnx_field(1 if isinstance(axis, int) else 2, axis)) for axis in axes)
        return onnx_field(1, name) + onnx_field(2, onnx_field(1, onnx_field(1, 1) + onnx_field(2, shape)))

    node = onnx_field(1, "x") + onnx_field(1, "weight") + onnx_field(2, "logits") + onnx_field(4, "MatMul")
    tensor = b"".join(onnx_field(1, size) for size in weight.shape) + onnx_field(2, 1) + onnx_field(8, "weight")
    tensor += onnx_field(9, weight.astype("<f4").tobytes())
    graph = onnx_field(1, node) + onnx_field(2, "g") + onnx_field(5, tensor)
    graph += onnx_field(11, value("x", "n", weight.shape[0])) + onnx_field(12, value("logits", "n", weight.shape[1]))
    # Larger weights make the graph longer than 127 bytes: its length takes two.
    length = bytes([len(graph) & 127 | 128, len(graph) >> 7])
    return onnx_field(1, 8) + bytes([7 << 3 | 2]) + length + graph + onnx_field(8, onnx_field(1, "") + onnx_field(2, 17))


def test_default_methods_of_a_model_without_attention_are_those_that_work(tmp_path):
    weight = np.array([[1, 0], [2, -1], [-1, 3]], np.float32)
    path = tmp_path / "rows.onnx"
    path.write_bytes(onnx_product_of_rows(weight))
    row = np.array([1, 2, 3], np.float32)
    arrays = wf.load(path, arrays=True)
    for attribution in arrays.explain({"x": row[None]}, element=(0, 1)):
        np.testing.assert_allclose(attribution.scores, row * weight[:, 1], atol=1e-6)
    table = wf.load(path)
    assert len(table.explain(row)) == 2
    assert len(table.explain(row, background=np.zeros((2, 3), np.float32))) == 2
    for model, given in [(arrays, {"x": row[None]}), (table, row)]:
        with pytest.raises(wf.InvalidInput, match="no attention was found in this model"):
            model.explain(given, "attention-flow")
