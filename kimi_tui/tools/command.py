"""One shell command, from its start to the end of everything it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.tools.base import CallInterrupted
from kimi_tui.tools.environment import command_environment
from kimi_tui.tools.guard import Guard
from kimi_tui.tools.output import LIVE_SECONDS, CommandOutput
from kimi_tui.tools.processes import MARK, Running, end, family

QUIET_SECONDS = 0.5
"""How long output is waited for after the command has ended and left a child in the background."""
DAEMON_SECONDS = 3.0
"""The same where the command did not say that it would leave one: it may only be slow."""

_drains: set[asyncio.Task[None]] = set()
"""Readers of pipes that background children still write to: without a reader the children would die of SIGPIPE."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `code` is negative for a signal, None when it could not be ended."""

    code: int | None
    text: str
    timed_out: bool = False
    left: tuple[Running, ...] = ()
    """What still runs in the background."""


def shell_argv(command: str) -> list[str]:
    """The command for the platform's shell."""
    if os.name == "nt":
        return [os.environ.get("COMSPEC", "cmd.exe"), "/c", command]
    return [shutil.which("bash") or "/bin/sh", "-c", command]


async def run_command(
    command: str, work_dir: Path, timeout: float, output: CommandOutput, extra: dict[str, str] | None = None
) -> Ended:
    """Run it in a process group of its own, without a terminal, stdin closed.

    A time-out ends the whole family. So does cancelling, which then raises CallInterrupted with the output so far; so
    does the end of this program, however that comes.
    Raises OSError or ValueError when it cannot be started.
    """
    mark = uuid.uuid4().hex
    environment = command_environment() | (extra or {}) | {MARK: mark}
    async with Guard(mark) as guard:
        return await _run(command, work_dir, timeout, output, environment, guard)


async def _run(
    command: str, work_dir: Path, timeout: float, output: CommandOutput, environment: dict[str, str], guard: Guard
) -> Ended:
    mark = environment[MARK]
    starting = asyncio.create_task(_start(command, work_dir, environment, output))
    cancelled = await _settled(starting)
    process, pump = starting.result()
    guard.runs(process.pid)
    tick = asyncio.create_task(_tick(output))
    try:
        if cancelled:
            raise asyncio.CancelledError
        timed_out = await _finished(process, pump, timeout, mark, grace=_grace(command))
        left = () if timed_out or (pump.done() and "&" not in command) else await _left(process.pid, mark)
    except asyncio.CancelledError:
        await _settled(asyncio.create_task(end(process.pid, mark)))
        pump.cancel()
        raise CallInterrupted(output.close()) from None
    finally:
        tick.cancel()
    text = output.close()
    _let_go(pump, keep=bool(left))
    return Ended(process.returncode, text, timed_out, left)


async def _start(
    command: str, work_dir: Path, environment: dict[str, str], output: CommandOutput
) -> tuple[asyncio.subprocess.Process, asyncio.Task[None]]:
    """The pipe is ours and not asyncio's: with its own, waiting for the exit may wait for the pipe's end too."""
    receive, send = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *shell_argv(command),
            cwd=work_dir,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=send,
            stderr=send,
            start_new_session=True,
        )
    except BaseException:
        os.close(receive)
        raise
    finally:
        os.close(send)
    return process, asyncio.create_task(_pump(receive, output))


async def _pump(descriptor: int, output: CommandOutput) -> None:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    try:
        while data := await reader.read(1 << 16):
            output.feed(data)
    finally:
        transport.close()


async def _tick(output: CommandOutput) -> None:
    while True:
        await asyncio.sleep(LIVE_SECONDS)
        output.show()


def _grace(command: str) -> float:
    return QUIET_SECONDS if "&" in command else DAEMON_SECONDS


async def _finished(
    process: asyncio.subprocess.Process, pump: asyncio.Task[None], timeout: float, mark: str, grace: float
) -> bool:
    """Wait for the command, then for the rest of its output. True when it had to be ended."""
    timed_out = False
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        timed_out = True
        await end(process.pid, mark)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 1)
    await asyncio.wait({pump}, timeout=grace)
    return timed_out


async def _left(leader: int, mark: str) -> tuple[Running, ...]:
    return tuple(await asyncio.to_thread(family, leader, mark))


async def _settled(task: asyncio.Task[Any]) -> bool:
    """Wait until the task is done, come what may. Whether somebody wanted to cancel the waiting."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


def _let_go(pump: asyncio.Task[None], *, keep: bool) -> None:
    if pump.done():
        return
    if not keep:
        pump.cancel()
    _drains.add(pump)
    pump.add_done_callback(_drains.discard)
