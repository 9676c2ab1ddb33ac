"""Mistakes have the program's words, in exceptions that say what kind they are."""

import os
import signal
import subprocess
import sys
import time

import pytest

import whyformer as wf

from conftest import SENTENCE


def message_of(errors: str) -> str:
    return errors.strip().split(": ", 1)[1]


@pytest.mark.parametrize("arguments, keywords", [
    (["--method", "gaee"], dict(methods="gaee")),
    (["--method", "gae", "--target", "happy"], dict(methods="gae", target="happy")),
    (["--method", "gae", "--target", "7"], dict(methods="gae", target=7)),
    (["--method", "rollout", "-o", "rollout.start=99"], dict(methods="rollout", options={"start": 99})),
    (["--method", "rollout", "-o", "rollout.begin=1"], dict(methods="rollout", options={"begin": 1})),
])
def test_same_words_as_the_command_line(model, command_line, arguments, keywords):
    _, errors, code = command_line("explain", SENTENCE, *arguments)
    with pytest.raises(wf.InvalidInput) as raised:
        model.explain(SENTENCE, **keywords)
    assert code == 2
    assert str(raised.value) == message_of(errors)


def test_kinds(tmp_path):
    for kind in (wf.InvalidInput, wf.UnsupportedModel, wf.FileError):
        assert issubclass(kind, wf.Error)
    assert issubclass(wf.InvalidInput, ValueError) and issubclass(wf.FileError, OSError)
    with pytest.raises(wf.FileError):
        wf.load(tmp_path / "nothing")
    with pytest.raises(wf.FileError, match="not downloaded"):
        wf.load("bert-base-uncased")
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises((wf.UnsupportedModel, wf.FileError)):
        wf.load(tmp_path)


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_text(model, text):
    with pytest.raises(wf.InvalidInput):
        model.explain(text, "gae")


@pytest.mark.parametrize("wrong", [3, None, 2.5, object()])
def test_not_a_text(model, wrong):
    with pytest.raises(wf.InvalidInput, match="expected a text"):
        model.explain(wrong, "gae")


def test_wrong_choices(model, tmp_path):
    result = model.explain(SENTENCE, "gae")
    with pytest.raises(wf.InvalidInput, match="words"):
        model.explain(SENTENCE, "gae", words="median")
    with pytest.raises(wf.InvalidInput, match="say of which method"):
        model.explain(SENTENCE, ["gae", "rollout"], options={"start": 1})
    with pytest.raises(wf.InvalidInput, match="one target"):
        model.explain(SENTENCE, "gae", target=[0, 1])
    with pytest.raises(wf.InvalidInput, match="one target"):
        model.explain(SENTENCE, "gae", top=2)
    with pytest.raises(wf.InvalidInput, match="highest classes to explain is 0"):
        model.explain(SENTENCE, "gae", top=0)
    with pytest.raises(wf.InvalidInput, match="end in"):
        result.save(tmp_path / "x.doc")
    with pytest.raises(KeyError, match="only of gae"):
        result["rollout"]
    with pytest.raises(wf.FileError):
        result.save(tmp_path / "no" / "folder" / "x.json")


def test_long_text_is_said_to_be_cut(model):
    result = model.explain("good " * 2000, "gae")
    assert any("512" in note for note in result.notes)


def test_control_c_interrupts():
    # A shell may start the tests with Ctrl-C ignored, which programs inherit.
    program = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
               "import whyformer as wf\nmodel = wf.load()\nprint('ready', flush=True)\n"
               "model.explain('a ' * 400, 'sampling-shap', options={'samples': 10**7})")
    running = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert errors.strip().endswith("KeyboardInterrupt")
    assert running.returncode in (1, 130, -signal.SIGINT)


def test_an_empty_name_is_not_the_built_in_model():
    for call in (lambda: wf.load(""), lambda: wf.explain(SENTENCE, model=""), lambda: wf.inspect("")):
        with pytest.raises(wf.Error, match="empty"):
            call()


def test_what_would_be_ignored_is_refused(model):
    for option in ("tokenizer", "processor", "example", "name"):
        with pytest.raises(wf.InvalidInput, match=f"{option}= goes with a model held in memory"):
            wf.load("sentiment", **{option: "x"})
        with pytest.raises(wf.InvalidInput, match=f"{option}= goes with a model held in memory"):
            wf.load("models/sentiment", **{option: "x"})
    with pytest.raises(wf.InvalidInput, match="arrays= goes with an ONNX file"):
        wf.load("sentiment", arrays=True)
    with pytest.raises(wf.InvalidInput, match="loaded already"):
        wf.load(model, tokenizer="x")


@pytest.mark.parametrize("count", [0, -1, 5000])
def test_a_number_of_threads_that_cannot_be(count):
    before = wf.threads()
    with pytest.raises(wf.InvalidInput, match="from 1 to 1024"):
        wf.set_threads(count)
    assert wf.threads() == before


def test_names_in_files_do_not_steer_the_terminal(tmp_path):
    import json
    import shutil

    shutil.copytree(os.path.join(os.path.dirname(__file__), "../../models/sentiment"), tmp_path / "model")
    config = json.loads((tmp_path / "model/config.json").read_text())
    hostile = "\x1b]0;owned\x07\u202e"
    config["id2label"] = {"0": "bad" + hostile, "1": "good" + hostile}
    config["architectures"] = ["BertForSequenceClassification"]
    (tmp_path / "model/config.json").write_text(json.dumps(config))
    model = wf.load(tmp_path / "model")
    with pytest.raises(wf.InvalidInput) as raised:
        model.explain(SENTENCE, "gae", target="nope")
    shown = [str(raised.value), repr(model), repr(model.inspect()), repr(model(SENTENCE)), str(model.explain(SENTENCE, "gae"))]
    assert "good\\x1b]0;owned" in shown[0]
    for text in shown:
        assert not set("\x1b\x07\u202e") & set(text), text


def test_a_torch_file_is_told_what_to_do(tmp_path):
    (tmp_path / "model.pth").write_bytes(bytes.fromhex("80028a0a6cfc9c46f9206aa850192e"))
    with pytest.raises(wf.UnsupportedModel, match="torch.save.*state_dict.*whyformer.load"):
        wf.load(tmp_path / "model.pth")
