"""No command outlives the program that ran it, even when that is killed; what it left behind on purpose does."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.tools import guard
from kimi_tui.tools.watchdog import still_running
from tests.tools.test_shell import alive

PROJECT = Path(__file__).parents[2]

PROGRAM = """
import asyncio, sys
from pathlib import Path
from kimi_tui.tools.command import run_command
from kimi_tui.tools.output import CommandOutput

async def main():
    for command in sys.argv[1:]:
        await run_command(command, Path("."), 600, CommandOutput(lambda text: print(text, flush=True), None))
        print("ended", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


class Killed:
    """A program that runs commands, and is killed the moment it says a word."""

    def __init__(self, *commands: str) -> None:
        self._program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *commands], stdout=subprocess.PIPE, text=True, cwd=PROJECT
        )

    def after(self, word: str) -> None:
        out = self._program.stdout
        assert out is not None
        while word not in out.readline():
            assert self._program.poll() is None
        self._program.kill()
        self._program.wait()
        out.close()


@pytest.fixture
def token() -> Iterator[str]:
    name = f"3{os.getpid():07}{time.monotonic_ns() % 10**6:06}"
    yield name
    for pid in alive(name):
        os.kill(pid, signal.SIGKILL)


async def gone(token: str) -> None:
    async with asyncio.timeout(60):
        while alive(token):
            await asyncio.sleep(0.02)


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
@pytest.mark.parametrize(
    "command",
    [
        "echo on; sleep {token}",
        "sleep {token} & echo on; wait",
        "trap '' TERM HUP; echo on; sleep {token}; sleep {token}",
        "setsid sleep {token} & sleep 0.2; echo on; sleep {token}",
    ],
    ids=["plain", "child", "deaf", "left the group"],
)
async def test_a_running_command_ends_with_the_program_that_is_killed(command: str, token: str) -> None:
    await asyncio.to_thread(Killed(command.format(token=token)).after, "on")
    await gone(token)


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
async def test_what_an_ended_command_left_in_the_background_stays(token: str) -> None:
    await asyncio.to_thread(
        Killed(f"sleep {token} >/dev/null 2>&1 & echo on", f"echo on; sleep {token}1").after, "ended"
    )
    await gone(f"{token}1")
    assert len(alive(token)) == 1


async def test_one_watchdog_serves_all_and_another_takes_its_place_when_it_dies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "_watchdog", None)
    async with guard.Guard("a"), guard.Guard("b"):
        first = guard._watchdog
        assert first is not None and first.stdin is not None
        first.kill()
        first.wait()
    async with guard.Guard("c"):
        second = guard._watchdog
        assert second is not None and second is not first
        assert second.stdin is not None
    first.stdin.close()
    second.stdin.close()
    assert await asyncio.to_thread(second.wait, 60) == 0


def test_the_watchdog_knows_what_has_not_ended() -> None:
    told = ["a", "a 10", "b", "b 11", "a -", "c", "", "d 12", "d -"]
    assert still_running(f"{line}\n" for line in told) == {"b": 11, "c": None}
