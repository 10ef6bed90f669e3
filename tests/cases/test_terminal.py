"""Without a terminal, and in one: said in a line, or whole until the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.program import ROOT, run, script
from tests.cli.terminal import in_terminal
from tests.ui.test_terminal import MODES_OFF, Terminal


@pytest.mark.parametrize("given", [{"input": "hi\n"}, {}])
def test_no_terminal_is_one_line(given: dict[str, str], tmp_path: Path) -> None:
    done = run(cwd=tmp_path, **given)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "kimi-tui -p" in done.stderr and not done.stdout


ODD = "\x1b[?1049h\x1b[2J\x1b[?1003h\x1b]0;taken\x07\x1b[?25l[/] [bold [b\x9b31m"


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """The program on a session of its own, with a model that answers with brackets and codes."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "codes.bin").write_bytes(ODD.encode())
    shell = {"tools": [{"name": "Shell", "args": {"command": "cat codes.bin; sleep 600"}}]}
    model = script(tmp_path, {"text": f"Seen: {ODD}"}, shell)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = Terminal("-m", "kimi_tui", "-w", str(work), "-m", model, "--yolo")
    yield made
    try:
        os.kill(made.pid, signal.SIGKILL)
        os.waitpid(made.pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    os.close(made.fd)


def test_codes_and_brackets_of_a_model_and_a_tool_stay_text(terminal: Terminal) -> None:
    terminal.read_until("❯".encode())
    terminal.type(b"look [/dim] [b\r")
    terminal.read_until(b"[bold")
    terminal.type(b"run\r")
    terminal.read_until(b"codes.bin; sleep 600")
    assert terminal.written.count(b"\x1b[?1049h") <= 2, "the sketch and the screen, and nothing else"
    assert b"taken\x07" not in terminal.written
    terminal.written = b""
    terminal.type(b"\x1bx")  # Alt+x is not Escape: the turn goes on, and what is said now waits in it
    terminal.type(b"wait\r")
    terminal.read_until(b"to edit")
    terminal.type(b"\x1b")
    terminal.read_until(b"stopped")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.read_to_end() == 143
    assert [mode for mode in MODES_OFF if mode not in terminal.written] == []


BROKEN = """
from kimi_tui.cli.main import run
from kimi_tui.ui.app import KimiApp

def start(self):
    key = "sk-FAKE0000000000000000000000ABCD"
    raise RuntimeError(f"[b]boom[/b] {key}")

KimiApp._start = start
raise SystemExit(run(["-m", "replay:none.json"]))
"""


def test_a_fault_of_our_own_is_one_line_and_shows_no_variables(tmp_path: Path, home: Path) -> None:
    with in_terminal("-c", BROKEN, cwd=tmp_path) as terminal:
        assert terminal.finish() == 1
        after = terminal.seen.rpartition(b"\x1b[?1049l")[2]
    assert b"kimi-tui: the screen broke: RuntimeError: [b]boom[/b] ***" in after
    assert b"Traceback" not in after and b"locals" not in after
    assert b"sk-FAKE" not in terminal.seen
    assert all(mode in terminal.seen for mode in (b"\x1b[?1049l", b"\x1b[?1003l", b"\x1b[?2004l", b"\x1b[?25h"))
    log = (home / "logs" / "kimi-tui.log").read_text()
    assert "boom" in log and "Traceback" in log and "sk-FAKE" not in log
