"""TaskList: which background tasks there are."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.background import BackgroundTasks, line_of
from kimi_tui.tools.base import Call, Params, ToolResult
from kimi_tui.tools.text import plural

LONGEST = 50
"""Tasks that are listed at most: the newest."""


class TaskListParams(Params):
    active_only: bool = Field(default=True, description="Only tasks that still run; false: also those that have ended.")


class TaskList:
    name: ClassVar[str] = "TaskList"
    Params: ClassVar[type[Params]] = TaskListParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    @cached_property
    def description(self) -> str:
        return prompt("tools/task_list")

    def describe(self, params: TaskListParams) -> tuple[str, str]:
        return "Tasks", "running" if params.active_only else "all"

    async def __call__(self, params: TaskListParams, call: Call) -> ToolResult:
        found = [task for task in self._tasks.all() if task.status == "running" or not params.active_only]
        if not found:
            none = "No background task is running." if params.active_only else "There are no background tasks."
            return ToolResult(message=none, brief="none")
        for task in found:
            self._tasks.mark_told(task.id)
        shown = found[-LONGEST:]
        more = f" Only the newest {LONGEST} are listed." if len(found) > len(shown) else ""
        count = plural(len(found), "background task")
        return ToolResult("\n".join(map(line_of, shown)), message=f"{count}.{more}", brief=plural(len(found), "task"))
