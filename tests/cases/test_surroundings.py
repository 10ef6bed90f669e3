"""Started where something is missing: an output, a folder, a standard stream."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.program import environment, script


def sh(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`{0}` in the line is the program."""
    program = f"{shlex.quote(sys.executable)} -m kimi_tui"
    command = ["sh", "-c", line.format(program)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("what", ["-p hi", "-p hi --output-format stream-json", "sessions", "--help"])
def test_an_output_that_takes_nothing_is_said_in_one_line(what: str, tmp_path: Path) -> None:
    model = f"-m {script(tmp_path)}" if "-p" in what else ""
    done = sh(f"{{0}} {what} {model} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr == "kimi-tui: standard output cannot be written: No space left on device.\n"


def test_a_closed_output_is_said_in_one_line(tmp_path: Path) -> None:
    done = sh(f"{{0}} -p hi -m {script(tmp_path)} >&-", tmp_path)
    assert (done.returncode, done.stderr) == (1, "kimi-tui: standard output is closed.\n")


def test_closed_streams_lend_their_numbers_to_no_file(tmp_path: Path, home: Path) -> None:
    shout = {"tools": [{"name": "Shell", "args": {"command": "echo loud >&2; echo low"}}]}
    done = sh(f"{{0}} -p hi --yolo -m {script(tmp_path, shout)} <&- 2>&-", tmp_path)
    assert (done.returncode, done.stdout) == (0, "ok\n")
    (log,) = home.glob("sessions/*/*/context.jsonl")
    assert all(isinstance(json.loads(line), dict) for line in log.read_text().splitlines())


def test_a_folder_that_is_gone_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = sh(f'cd gone && rmdir "$PWD" && {{0}} -p hi -m {script(tmp_path)}', tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "the current folder is gone" in done.stderr
