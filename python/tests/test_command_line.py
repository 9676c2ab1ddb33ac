"""The package's command is the program."""

import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from conftest import SENTENCE


def started(*arguments, **settings):
    return subprocess.Popen([sys.executable, "-m", "whyformer", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings)


def run(*arguments):
    process = started(*arguments, stdin=subprocess.DEVNULL)
    out, error = process.communicate()
    return out.decode(), error.decode(), process.returncode


@pytest.mark.parametrize("arguments", [
    ["--help"],
    ["methods", "--json"],
    ["tokenize", "--json", SENTENCE],
    ["inspect", "--json"],
    ["explain", "good film", "--target", "no such label"],
    ["explain", "good film", "--jsn", "-"],
])
def test_the_command_says_what_the_program_says(command_line, arguments):
    assert run(*arguments) == command_line(*arguments)


def test_explanations_are_those_of_the_program(command_line, tmp_path):
    arguments = ["explain", "good film", "--method", "gae,rollout", "--svg"]
    files = [tmp_path / "module.svg", tmp_path / "program.svg"]
    assert run(*arguments, files[0])[2] == command_line(*arguments, files[1])[2] == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_command_is_installed():
    command = Path(sysconfig.get_path("scripts")) / "whyformer"
    if not command.exists():
        pytest.skip("the package is used without having been installed")
    assert subprocess.run([command, "--version"], capture_output=True, text=True).stdout == run("--version")[0]


def test_names_of_files_need_not_be_utf8():
    process = started("explain", "--file", os.fsdecode(b"no-\xff-file"))
    assert process.communicate()[1].startswith(b"whyformer: cannot read 'no-")
    assert process.returncode == 2


def test_interruption_ends_it_with_the_program_s_code():
    process = started("explain", "--method", "rollout", stdin=subprocess.PIPE)
    process.stdin.write(b"a fine film\n")
    process.stdin.flush()
    process.stdout.readline()  # it is at work, and waits for the next line
    process.send_signal(signal.SIGINT)
    for _ in range(100):
        if process.poll() is not None:
            break
        time.sleep(0.1)
    _, error = process.communicate()
    assert process.returncode == 128 + signal.SIGINT
    assert b"interrupted" in error and b"Traceback" not in error


def test_a_closed_pipe_ends_it_quietly():
    process = started("explain", "--method", "rollout", stdin=subprocess.PIPE)
    process.stdout.close()
    process.stdin.write(b"a fine film\n" * 50)
    process.stdin.close()
    assert process.wait() == -signal.SIGPIPE
    assert process.stderr.read() == b""
