"""SetTodoList: what is to be done, for the model and for the user who watches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field, field_validator

from kimi_tui.protocol.views import TodoItem
from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult
from kimi_tui.tools.text import plural, visible

_OTHER_WORDS = {
    "completed": "done",
    "complete": "done",
    "finished": "done",
    "in progress": "in_progress",
    "in-progress": "in_progress",
    "active": "in_progress",
    "todo": "pending",
    "open": "pending",
}


class Todo(BaseModel):
    title: str = Field(min_length=1, description="What is to be done.")
    status: Literal["pending", "in_progress", "done"] = Field(description="How far it is.")

    @field_validator("status", mode="before")
    @classmethod
    def _usual(cls, value: Any) -> Any:
        return _OTHER_WORDS.get(value.strip().lower(), value) if isinstance(value, str) else value


class SetTodoListParams(Params):
    todos: list[Todo] | None = Field(
        default=None, description="The whole list as it shall be from now on. Left out: the list is only shown."
    )


class SetTodoList:
    """`load` and `save` keep the list where it belongs, with the session."""

    name: ClassVar[str] = "SetTodoList"
    Params: ClassVar[type[Params]] = SetTodoListParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    def __init__(self, load: Callable[[], Sequence[TodoItem]], save: Callable[[Sequence[TodoItem]], None]) -> None:
        self._load, self._save = load, save

    @cached_property
    def description(self) -> str:
        return prompt("tools/set_todo_list")

    def describe(self, params: SetTodoListParams) -> tuple[str, str]:
        if params.todos is None:
            return "To-dos", "show"
        now = next((todo.title for todo in params.todos if todo.status == "in_progress"), "")
        return "To-dos", now or plural(len(params.todos), "item")

    async def __call__(self, params: SetTodoListParams, call: Call) -> ToolResult:
        if params.todos is not None:
            self._save(tuple(TodoItem(visible(todo.title), todo.status) for todo in params.todos))
        items = self._load()
        done = sum(item.status == "done" for item in items)
        listed = "\n".join(f"- [{item.status}] {item.title}" for item in items)
        if params.todos is not None:
            return ToolResult(message="The list is updated.", brief=f"{done} of {len(items)} done")
        return ToolResult(listed, message="" if items else "The list is empty.", brief=f"{done} of {len(items)} done")
