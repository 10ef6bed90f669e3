"""Starting the full screen in a real terminal: first frame, faults, signals, and what is left behind."""

from __future__ import annotations

import os
import signal
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, in_terminal

STARTED = """
import asyncio, sys
import kimi_tui.cli.connecting as connecting
from tests.cli.scripted import ScriptedAgent
async def connect(options):
    if options.model == "broken":
        raise RuntimeError("a part is missing")
    return ScriptedAgent([])
class Bootstrap:
    pass
Bootstrap.connect = staticmethod(connect)
sys.modules["kimi_tui.bootstrap"] = Bootstrap
from kimi_tui.cli.main import run
sys.exit(run(sys.argv[1:]))
"""

RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")


def started(*arguments: str, cwd: Path) -> AbstractContextManager[Terminal]:
    return in_terminal("-c", STARTED, *arguments, cwd=cwd)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGABRT, 134)])
def test_a_signal_restores_the_terminal(number: signal.Signals, code: int, tmp_path: Path) -> None:
    with started(cwd=tmp_path) as terminal:
        terminal.wait_for(b"scripted")
        os.kill(terminal.child.pid, number)
        assert terminal.finish() == code
        for mode in RESTORED:
            assert mode in terminal.seen


def test_an_agent_that_cannot_be_built_ends_in_one_line_after_the_screen(tmp_path: Path, home: Path) -> None:
    with started("-m", "broken", cwd=tmp_path) as terminal:
        assert terminal.finish() == 1
        after = terminal.seen.rpartition(b"\x1b[?1049l")[2].decode()
        assert "kimi-tui: the agent could not be started: a part is missing." in after
        assert "Traceback" not in after
        assert "a part is missing" in (home / "logs" / "kimi-tui.log").read_text()


def test_a_broken_config_is_told_before_there_is_a_screen(tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text("[models.a]\n[models.a]\n")
    with started(cwd=tmp_path) as terminal:
        assert terminal.finish() == 1
        assert f"kimi-tui: {home}/config.toml, line 2: [models.a] is given twice".encode() in terminal.seen
        assert b"\x1b[?1049h" not in terminal.seen


def test_a_data_folder_that_cannot_be_written_is_told_with_its_path(tmp_path: Path, home: Path) -> None:
    (home / "sessions").write_text("a file in the folder's place")
    with started(cwd=tmp_path) as terminal:
        assert terminal.finish() == 1
        assert f"kimi-tui: cannot write to {home}/sessions".encode() in terminal.seen
