"""TaskOutput: what a background task has written so far, or how it ended."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pydantic import Field

from kimi_tui.protocol.views import TaskView
from kimi_tui.resources import prompt
from kimi_tui.spelling import spell
from kimi_tui.tools.background import BackgroundTasks, TailView, ended_how, state_of, unknown
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.text import clean

LONGEST = 3600
"""Seconds that one call may wait at most."""


class TaskOutputParams(Params):
    task_id: str = Field(min_length=1, description="The task's id, as Shell or Agent gave it.")
    block: bool = Field(default=False, description="Wait until the task has ended, at most `timeout` seconds.")
    timeout: int = Field(default=30, ge=0, le=LONGEST, description="Seconds to wait when `block` is true.")


class TaskOutput:
    name: ClassVar[str] = "TaskOutput"
    Params: ClassVar[type[Params]] = TaskOutputParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    @cached_property
    def description(self) -> str:
        return prompt("tools/task_output")

    def describe(self, params: TaskOutputParams) -> tuple[str, str]:
        return "Task output", params.task_id

    async def __call__(self, params: TaskOutputParams, call: Call) -> ToolResult:
        task = self._tasks.get(params.task_id)
        if task is not None and params.block:
            task = await self._tasks.wait(params.task_id, params.timeout)
        if task is None:
            return failed(unknown(params.task_id, self._tasks), brief="no such task")
        tail = await self._tasks.read(task.id)
        self._tasks.mark_told(task.id)
        waited = f" It was waited for {params.timeout} s." if params.block and task.status == "running" else ""
        message = f"{task.id} is {state_of(task)}.{waited} {_about(tail, task)}"
        return ToolResult(clean(tail.text), message=message, brief=_brief(task))


def _about(tail: TailView, task: TaskView) -> str:
    if not tail.size:
        return "It has written nothing."
    if tail.cut:
        return f"The end of its {tail.size:,} bytes of output; read {spell(task.output_file)} for what came before:"
    return "Its output:"


def _brief(task: TaskView) -> str:
    code = ended_how(task.exit_code) if task.status in ("done", "failed") else ""
    return code or task.status
