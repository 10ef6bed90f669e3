"""Commands about background tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kimi_tui.agent.subagents.past import past_of
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
    past = await past_of(agent.desk, task.agent.id, task.agent.call_id) if task.agent else None
    if past is None or task.agent is None:
        agent.emit(TaskRead(task, clean(tail.text)))
        return
    seen = task.agent if task.agent.tokens.window else replace(past.view, state=task.agent.state)
    agent.emit(TaskRead(replace(task, agent=seen), clean(tail.text), past.entries))
