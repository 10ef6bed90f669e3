"""Sees to it that a command does not outlive this program, even when that is killed: a watchdog is told of it.

One watchdog serves all commands; it is started with the first of them. (A wrapper around each command would cost each
one a process; a signal on the parent's death exists on Linux only, and comes when the parent's *thread* ends.)
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

from kimi_tui.tools.environment import command_environment

_WATCHDOG = Path(__file__).with_name("watchdog.py")

_starting = threading.Lock()
_watchdog: subprocess.Popen[bytes] | None = None


class Guard:
    """Around one command. Without a watchdog (Windows, no room for a process) it does nothing."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    async def __aenter__(self) -> Self:
        """Before it starts: it can be told by its mark from then on."""
        if os.name == "posix" and not _tell(self._mark):
            await asyncio.to_thread(_start)
            _tell(self._mark)
        return self

    async def __aexit__(self, *_: object) -> None:
        """It has ended; what it left in the background may stay."""
        _tell(f"{self._mark} -")

    def runs(self, pid: int) -> None:
        _tell(f"{self._mark} {pid}")


def _start() -> None:
    global _watchdog
    with _starting:
        if _watchdog is not None and _watchdog.poll() is None:
            return
        with contextlib.suppress(OSError):
            _watchdog = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_WATCHDOG)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env=command_environment(),
            )
            if _watchdog.stdin is not None:
                os.set_blocking(_watchdog.stdin.fileno(), False)  # one that hangs must not hold anything up


def _tell(line: str) -> bool:
    """One write, whole: a line is far shorter than what a pipe takes at once."""
    watchdog = _watchdog
    if watchdog is None or watchdog.stdin is None:
        return False
    try:
        os.write(watchdog.stdin.fileno(), f"{line}\n".encode())
    except OSError:
        return False
    return True
