"""What the tools need of background tasks, and how they word what they say of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from kimi_tui.protocol.views import TaskView
from kimi_tui.tools.text import one_line


class TailView(Protocol):
    """The newest part of an output."""

    @property
    def text(self) -> str: ...

    @property
    def size(self) -> int:
        """Bytes of all that is kept."""

    @property
    def cut(self) -> bool:
        """There is more before."""


class BackgroundTasks(Protocol):
    """The tasks of the session; kept in the room `background`, which the tools do not know."""

    def all(self) -> tuple[TaskView, ...]: ...

    def get(self, task_id: str) -> TaskView | None: ...

    def mark_told(self, task_id: str, told: bool = True) -> None:
        """The model knows how the task ended."""

    async def read(self, task_id: str, limit: int = ...) -> TailView: ...

    async def start(
        self, command: str, work_dir: Path, *, description: str = "", timeout: float | None = None
    ) -> TaskView:
        """Raises OSError or ValueError."""

    async def wait(self, task_id: str, seconds: float) -> TaskView | None: ...

    async def stop(self, task_id: str, reason: str = "") -> TaskView | None: ...


def line_of(task: TaskView, now: float | None = None) -> str:
    """One line: `task-3fa9c1 · running for 12 s · npm run dev · the dev server`. A subagent's name says it all."""
    parts = [task.id, state_of(task, now), one_line(task.command, 120)]
    return " · ".join([*parts, one_line(task.description, 80)] if task.description and not task.agent else parts)


def state_of(task: TaskView, now: float | None = None) -> str:
    """`running for 12 s`, `done after 3 s: exit 0`, `failed after 1.2 min: exit 3`, `stopped …`, `lost …`."""
    end = task.ended_at if task.ended_at is not None else now if now is not None else time.time()
    span = span_of(max(0.0, end - task.started_at))
    if task.status == "running":
        return f"running for {span}"
    how = [how for how in (ended_how(task.exit_code), one_line(task.reason)) if how]
    return f"{task.status} after {span}{': ' if how else ''}{', '.join(how)}"


def ended_how(code: int | None) -> str:
    if code is None:
        return ""
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def span_of(seconds: float) -> str:
    """`3 s`, `1.5 min`, `2.0 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def unknown(task_id: str, tasks: BackgroundTasks) -> str:
    """There is no such task: which ones there are."""
    known = ", ".join(task.id for task in tasks.all()[-10:])
    there = f"The tasks are: {known}." if known else "No background task was started in this session."
    return f"There is no background task {one_line(task_id, 60)!r}. {there}"
