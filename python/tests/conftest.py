import importlib.util
import os
import subprocess
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import whyformer as wf

SOURCES = Path(__file__).resolve().parents[2]
SENTENCE = "I cannot wait for next time"


@pytest.fixture(scope="session")
def model():
    return wf.load("sentiment")


@pytest.fixture(scope="session")
def painter():
    return wf.load("pictures")


@pytest.fixture(scope="session")
def command_line():
    """Runs the program that the same sources gave, and tells what it printed."""
    program = os.environ.get("WHYFORMER_BINARY", SOURCES / "build" / "release" / "whyformer")
    if not Path(program).exists():
        pytest.skip("the command line is not built: scripts/build release")

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        return done.stdout, done.stderr, done.returncode

    return run


def without_seconds(explanation: dict) -> dict:
    """Times are all that may differ between two runs."""
    for attribution in explanation.get("attributions", []):
        attribution["cost"].pop("seconds")
    return explanation


def script(name: str):
    """A script of this repository as a module."""
    loader = SourceFileLoader(name, str(SOURCES / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
