"""TaskStop: end a background task."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.background import BackgroundTasks, state_of, unknown
from kimi_tui.tools.base import Call, Params, ToolResult, failed


class TaskStopParams(Params):
    task_id: str = Field(min_length=1, description="The task's id, as Shell or Agent gave it.")
    reason: str = Field(default="", description="Why, in a few words, for the user.")


class TaskStop:
    name: ClassVar[str] = "TaskStop"
    Params: ClassVar[type[Params]] = TaskStopParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = False

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    @cached_property
    def description(self) -> str:
        return prompt("tools/task_stop")

    def describe(self, params: TaskStopParams) -> tuple[str, str]:
        return "Stop task", f"{params.task_id} {params.reason}".strip()

    async def __call__(self, params: TaskStopParams, call: Call) -> ToolResult:
        """Needs no approval: it ends only what was started with one."""
        task = self._tasks.get(params.task_id)
        if task is None:
            return failed(unknown(params.task_id, self._tasks), brief="no such task")
        if task.status == "running":
            task = await self._tasks.stop(params.task_id, params.reason)
            assert task is not None
            self._tasks.mark_told(task.id)
            return ToolResult(message=f"{task.id} and all that it had started were ended.", brief="stopped")
        self._tasks.mark_told(task.id)
        return ToolResult(message=f"{task.id} had ended already: {state_of(task)}.", brief="had ended")
