"""A task that is no command but work of this program itself: a subagent. It ends with the program.

job = Job(task, work, note)
job.begin()
await job.gone()                     # however it ended
await job.settle(now)                # its report is on disk, and how it ended in the ledger
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kimi_tui.background.kept import Note
from kimi_tui.background.task import Task
from kimi_tui.protocol.views import SubagentView, TaskStatus, TaskView

log = logging.getLogger(__name__)

ENDING = 10.0
"""Seconds that work gets to end in good order when it is stopped."""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How the work ended."""

    status: Literal["done", "failed"]
    reason: str = ""
    report: str = ""
    """What came of it; the last thing in the task's output."""


Work = Callable[[Callable[[str], None]], Coroutine[Any, Any, JobEnd]]
"""Gets where to say what it does, for the task's output. Cancelled when it is to stop."""


@dataclass(frozen=True, slots=True)
class Order:
    """A piece of work, and what it is called."""

    work: Work
    command: str
    """What stands for a command line."""
    description: str
    agent: str
    """Id of the subagent, and its type."""
    agent_type: str
    call: str
    """The tool call that it works for."""
    view: Callable[[], SubagentView]
    """How it stands now."""


class Job:
    """One piece of work; offers `Tasks` what a `Kept` offers."""

    def __init__(self, task: Task, order: Order, note: Note) -> None:
        self.task, self._order, self._note = task, order, note
        self._working: asyncio.Task[JobEnd] | None = None
        self._wanted: tuple[TaskStatus, str] | None = None

    def begin(self) -> None:
        """Start it. Raises OSError when its output cannot be kept."""
        output = Path(self.task.output)
        output.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        output.touch(mode=0o600)
        self._working = asyncio.create_task(self._order.work(self._say), name=f"work on {self.task.id}")

    def view(self) -> TaskView:
        """The task, with its agent as it stands now."""
        return self.task.view(self._order.view())

    async def gone(self) -> None:
        """Wait until it has ended."""
        assert self._working is not None
        await asyncio.wait({self._working})

    async def strike(self, status: TaskStatus, reason: str) -> None:
        """Stop it. It is to be known as having ended in this way, unless it just has by itself."""
        assert self._working is not None
        await asyncio.sleep(0)  # it gets to its first line, where it can be cancelled in good order
        if self._wanted is None and not self._working.done():
            self._wanted = (status, reason)
        self._working.cancel()
        await asyncio.wait({self._working}, timeout=ENDING)

    async def settle(self, now: float) -> None:
        """It has ended: keep its report, and note how."""
        end, status, reason = self._end()
        start = await asyncio.to_thread(_append, Path(self.task.output), end.report)
        self._note(self.task, status=status, reason=reason, ended_at=now, report=start)

    def _end(self) -> tuple[JobEnd, TaskStatus, str]:
        assert self._working is not None
        if self._working.cancelled():
            status, reason = self._wanted or ("stopped", "")
            return JobEnd("failed"), status, reason
        if (fault := self._working.exception()) is not None:
            log.error("work in the background broke", exc_info=fault)
            return JobEnd("failed"), "failed", f"it broke: {type(fault).__name__}: {fault}"
        end = self._working.result()
        status, reason = self._wanted or (end.status, end.reason)
        return end, status, reason

    def _say(self, text: str) -> None:
        """A few words for its output. A full disk costs the words, not the work."""
        try:
            with Path(self.task.output).open("ab") as file:
                file.write(text.encode("utf-8", "replace"))
        except OSError as fault:
            log.warning("the output of %s cannot be written: %s", self.task.id, fault)


def _append(output: Path, report: str) -> int | None:
    """Put the report at the end. Where it begins, in bytes; None without one."""
    if not report.strip():
        return None
    try:
        with output.open("ab") as file:
            file.write(b"\n" if file.tell() else b"")
            start = file.tell()
            file.write(report.encode("utf-8", "replace") + b"\n")
    except OSError as fault:
        log.warning("a report cannot be kept: %s", fault)
        return None
    return start
