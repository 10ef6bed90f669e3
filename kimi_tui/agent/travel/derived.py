"""What the history implies beside the messages: the to-dos and the plan mode that the model set by its calls.

They follow when the user moves time. A D-Mail and a compaction leave them alone: there the work goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kimi_tui.agent.marks import meta
from kimi_tui.protocol.messages import Message, ToolCall
from kimi_tui.protocol.views import TodoItem
from kimi_tui.tools.todo import SetTodoListParams

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

_PLAN = {"EnterPlanMode": True, "ExitPlanMode": False}


async def follow(desk: Desk, before: Sequence[tuple[str, str]]) -> None:
    """The user has changed the history: bring to-dos and plan mode in line. `before` are the plan calls until then."""
    history = desk.context.history
    desk.set_todos(await asyncio.to_thread(todos_of, history))
    plan = plan_after(before, await asyncio.to_thread(plan_calls, history))
    if plan is not None and plan != desk.modes.plan:
        desk.set_mode("plan", plan)


def plan_calls(history: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """The calls that switched plan mode, as (id, name), oldest first."""
    calls = [(call.id, call.function.name) for call in _succeeded(history) if call.function.name in _PLAN]
    return tuple(reversed(calls))


def plan_after(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> bool | None:
    """What plan mode is now that other calls count than before; None when that changes nothing."""
    if tuple(before) == tuple(now):
        return None
    if now:
        return _PLAN[now[-1][1]]
    return not _PLAN[before[0][1]]


def todos_of(history: Sequence[Message]) -> tuple[TodoItem, ...]:
    """The list as the newest call in the history set it."""
    lists = (_todos(call) for call in _succeeded(history) if call.function.name == "SetTodoList")
    return next((found for found in lists if found is not None), ())


def _todos(call: ToolCall) -> tuple[TodoItem, ...] | None:
    """The list that a call set; None when it only asked to be shown one."""
    try:
        arguments = SetTodoListParams.model_validate_json(call.function.arguments or "{}")
    except ValueError:
        return None
    if arguments.todos is None:
        return None
    return tuple(TodoItem(todo.title, todo.status) for todo in arguments.todos)


def _succeeded(history: Sequence[Message]) -> Iterator[ToolCall]:
    """Calls with a good result, newest first."""
    good: set[str | None] = set()
    for index in range(len(history) - 1, -1, -1):
        message = history[index]
        if message.role == "tool":
            text = message.text().lstrip()
            failed = meta(message).get("outcome", "ok") != "ok" or text.startswith("<system>ERROR")
            good -= {message.tool_call_id}
            good |= set() if failed else {message.tool_call_id}
        for call in reversed(message.tool_calls or ()):
            if call.id in good:
                yield call
