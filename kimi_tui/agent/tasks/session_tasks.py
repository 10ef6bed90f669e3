"""The background tasks of the open session, and those that other sessions left running when they were killed.

The end of each is told to the hooks for `Notification`, unless the session ends with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kimi_tui.background import Host, Tail, Tasks, left_over
from kimi_tui.hooks import Hooks
from kimi_tui.protocol.events import Event, TasksChanged
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import TaskView
from kimi_tui.resources import prompt
from kimi_tui.session import Session
from kimi_tui.tools.background import line_of
from kimi_tui.tools.command import shell_argv
from kimi_tui.tools.environment import command_environment
from kimi_tui.tools.processes import MARK, end
from kimi_tui.tools.text import one_line

HOST = Host(shell_argv, command_environment, MARK, end)


class SessionTasks:
    """`own` are those of the session: the tools see only them. The user sees and stops all."""

    def __init__(self, session: Session, emit: Callable[[Event], None], hooks: Hooks | None = None) -> None:
        self.own = Tasks(session.folder, HOST, changed=self._tell, ended=self._ended)
        self._session, self._emit, self._hooks = session, emit, hooks
        self._elsewhere: dict[Path, Tasks] = {}
        self._shown = False

    async def find(self, sessions: Path) -> tuple[str, ...]:
        """What killed programs left, here and in other sessions. A line for the user about each that still runs."""
        found = await self.own.recover()
        said = [f"still running from before: {_named(task)}" for task in found]
        for folder in await asyncio.to_thread(left_over, sessions, self._session.folder):
            tasks = Tasks(folder, HOST, changed=self._tell)
            self._elsewhere[folder] = tasks
            said += [f"left running by session {folder.name}: {_named(task)}" for task in await tasks.recover()]
        return tuple(said)

    def views(self) -> tuple[TaskView, ...]:
        """All tasks of this session, and the running ones of others."""
        others = [
            replace(task, session=str(folder)) for folder, tasks in self._elsewhere.items() for task in tasks.running()
        ]
        return (*self.own.all(), *others)

    def first_events(self) -> tuple[Event, ...]:
        """What a screen that has just opened the session has to know; from here on it is told of every change."""
        self._shown = True
        views = self.views()
        return (TasksChanged(views),) if views else ()

    def running(self) -> tuple[TaskView, ...]:
        """Tasks that end with the session; the user is asked before."""
        return self.own.running()

    def active_snapshot(self) -> list[Message]:
        """What the model must still know after its memory was folded: one message, or none when nothing runs."""
        running = self.own.running()
        if not running:
            return []
        return [_reminder("\n".join([prompt("tasks_running"), *(f"- {line_of(task)}" for task in running)]))]

    async def stop(self, task_id: str, reason: str) -> TaskView | None:
        """End one, whoever started it. None when there is no such task."""
        return await self._holder(task_id).stop(task_id, reason)

    async def read(self, task_id: str) -> tuple[TaskView, Tail] | None:
        """One with the newest part of its output."""
        tasks = self._holder(task_id)
        tail = await tasks.read(task_id)
        task = tasks.get(task_id)
        return (task, tail) if task else None

    async def close(self) -> None:
        """End what this session runs. What others left is left."""
        self._shown = False
        await asyncio.gather(self.own.close(), *(tasks.let_go() for tasks in self._elsewhere.values()))

    def _holder(self, task_id: str) -> Tasks:
        holders: Sequence[Tasks] = (self.own, *self._elsewhere.values())
        return next((tasks for tasks in holders if tasks.get(task_id)), self.own)

    def _ended(self, task: TaskView) -> None:
        if self._shown and self._hooks is not None:
            title, body = f"{task.id} {task.status}", line_of(task)
            self._hooks.fire("Notification", "task", notification_type="task", title=title, body=body)

    def _tell(self) -> None:
        if self._shown:
            self._emit(TasksChanged(self.views()))


def _named(task: TaskView) -> str:
    """Only commands outlive their program."""
    return f"{one_line(task.command, 80)} ({task.id}, process {task.pid}); /tasks can stop it"


def _reminder(text: str) -> Message:
    return Message(role="user", content=f"<system-reminder>\n{text}\n</system-reminder>")
