"""A task and its keeper: how they start, how their end is waited for, and how it is brought about."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kimi_tui.background.host import Host
from kimi_tui.background.identity import birth, is_alive
from kimi_tui.background.keeper import Order
from kimi_tui.background.task import Task
from kimi_tui.protocol.views import TaskStatus

HEAD, TAIL = 4 << 20, 4 << 20
"""Bytes of a task's output that are kept of its beginning and its end."""
POLL = 0.25
"""Longest time, in seconds, between two looks at a keeper that is not our own child."""
SETTLE = 1.5
"""Seconds that the keeper of an ended command gets to note how it ended."""

Note = Callable[..., None]
"""Takes the task and what is new about it, and writes it down."""

_KEEPER = Path(__file__).with_name("keeper.py")


class Kept:
    """One task that runs, started by this program or by one that was killed."""

    def __init__(self, task: Task, host: Host, exit_file: Path, note: Note) -> None:
        self.task, self._host, self._exit_file, self._note = task, host, exit_file, note
        self._process: asyncio.subprocess.Process | None = None
        self._wanted: tuple[TaskStatus, str] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether it ended while nobody watched."""
        return self._exit_file.exists() or not is_alive(self.task.keeper, self.task.keeper_born)

    async def launch(self, work_dir: Path) -> None:
        """Start the keeper, and through it the command. Raises OSError or ValueError; cancelled, it leaves nothing."""
        launching = asyncio.create_task(self._launch(work_dir))
        try:
            await asyncio.shield(launching)
        except asyncio.CancelledError:
            await asyncio.wait({launching})
            if not launching.exception():
                await self.strike("stopped", "interrupted")
            raise

    async def gone(self) -> None:
        """Wait until the keeper has done its work."""
        if self._process is not None:
            await self._process.wait()
            return
        pause = 0.01
        while await asyncio.to_thread(is_alive, self.task.keeper, self.task.keeper_born):
            await asyncio.sleep(pause)
            pause = min(2 * pause, POLL)

    async def strike(self, status: TaskStatus, reason: str) -> None:
        """End the command and all that it started. It is to be known as having ended in this way."""
        if self._wanted is None:
            self._wanted = (status, reason)
        if self.task.pid is not None:
            await self._host.end(self.task.pid, self.task.mark)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE):
                await self.gone()
        if self.task.keeper is not None and is_alive(self.task.keeper, self.task.keeper_born):
            with contextlib.suppress(OSError):
                os.kill(self.task.keeper, getattr(signal, "SIGKILL", signal.SIGTERM))

    async def settle(self, now: float) -> None:
        """It has ended: note how."""
        status, reason = self._wanted or (None, "")
        ended = await asyncio.to_thread(_read_exit, self._exit_file)
        if ended is None and status is None:
            reason = "how it ended is not known"
            if self.task.pid is not None:  # nobody takes the output of what is left
                await self._host.end(self.task.pid, self.task.mark)
        code, at = ended or (None, now)
        found: TaskStatus = "lost" if ended is None else "done" if code == 0 else "failed"
        self._note(self.task, status=status or found, reason=reason, exit_code=code, ended_at=at)
        self._exit_file.unlink(missing_ok=True)

    async def _launch(self, work_dir: Path) -> None:
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_KEEPER)),
            env=dict(self._host.environment()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        self._note(self.task, keeper=process.pid, keeper_born=birth(process.pid))
        answer = await _hand_over(process, self._order(work_dir))
        if "pid" not in answer:
            await process.wait()
            raise OSError(answer.get("error") or "its keeper could not be started")
        self._note(self.task, pid=answer["pid"])

    def _order(self, work_dir: Path) -> Order:
        return Order(
            argv=list(self._host.argv(self.task.command)),
            work_dir=str(work_dir),
            environment={self._host.mark: self.task.mark},
            output=self.task.output,
            exit=str(self._exit_file),
            head=HEAD,
            tail=TAIL,
        )


async def _hand_over(process: asyncio.subprocess.Process, order: Order) -> dict[str, Any]:
    """Tell a keeper what to run; its answer is empty when it died."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(ConnectionError):
        process.stdin.write(json.dumps(order).encode())
        await process.stdin.drain()
    process.stdin.close()
    line = await process.stdout.readline()
    answer = json.loads(line) if line else {}
    return answer if isinstance(answer, dict) else {}


def _read_exit(file: Path) -> tuple[int, float] | None:
    try:
        ended = json.loads(file.read_text("utf-8"))
        return int(ended["code"]), float(ended["at"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
