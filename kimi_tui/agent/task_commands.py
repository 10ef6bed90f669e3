"""Commands about background tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_tui.protocol.commands import ReadTask, StopTask
from kimi_tui.protocol.events import Noticed, TaskRead
from kimi_tui.tools.text import clean

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent


async def stop_task(agent: Agent, command: StopTask) -> None:
    tasks = agent.desk.tasks
    if tasks is None or await tasks.stop(command.id, "stopped by the user") is None:
        agent.emit(Noticed(f"there is no background task {command.id}", "warning"))


async def read_task(agent: Agent, command: ReadTask) -> None:
    tasks = agent.desk.tasks
    found = await tasks.read(command.id) if tasks is not None else None
    if found is None:
        agent.emit(Noticed(f"there is no background task {command.id}", "warning"))
        return
    task, tail = found
    agent.emit(TaskRead(task, clean(tail.text)))
