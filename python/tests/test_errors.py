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
    program = ("import whyformer as wf\nmodel = wf.load()\nprint('ready', flush=True)\n"
               "model.explain('a ' * 400, 'sampling-shap', options={'samples': 10**7})")
    running = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert errors.strip().endswith("KeyboardInterrupt")
    assert running.returncode in (1, 130, -signal.SIGINT)
