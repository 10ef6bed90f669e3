"""What fills the context: tokens by category, adding up to the gauge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kimi_tui.agent.marks import mark_of
from kimi_tui.agent.rows import first_line
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import TokenShare

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

_LARGEST = 5


def shares(desk: Desk) -> tuple[TokenShare, ...]:
    """The categories, largest first. The parts are estimates, scaled so that their sum is the gauge's."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for category, name, tokens in _items(desk):
        found[category].append((name, tokens))
    estimated = {category: sum(tokens for _, tokens in items) for category, items in found.items()}
    scaled = _scaled(estimated, desk.total)
    result = [TokenShare(category, scaled[category], False, _largest(items)) for category, items in found.items()]
    return tuple(sorted(result, key=lambda share: -share.tokens))


def _items(desk: Desk) -> Iterator[tuple[str, str, int]]:
    if desk.system_prompt:
        yield "system", "system prompt", _cost(desk, desk.system_prompt)
    for tool in desk.toolset.specs() if desk.model.view.tools else ():
        yield "tools", tool.name, _cost(desk, f"{tool.description}\n{tool.parameters}")
    names = _call_names(desk)
    for message in desk.context.history:
        category = _category(message)
        name = names.get(message.tool_call_id or "", "") if message.role == "tool" else first_line(message.text(" "))
        yield category, name or message.role, desk.context.estimate([message])


def _category(message: Message) -> str:
    if message.role == "user":
        return {"": "user", "summary": "summary", "dmail": "D-Mail"}.get(mark_of(message), "injections")
    return "tool results" if message.role == "tool" else message.role


def _call_names(desk: Desk) -> dict[str, str]:
    calls = (call for message in desk.context.history for call in message.tool_calls or ())
    views = (desk.toolset.view(call) for call in calls)
    return {view.call_id: f"{view.verb} {view.subject}" for view in views}


def _scaled(estimated: dict[str, int], total: int) -> dict[str, int]:
    """The same proportions with another sum; the largest takes what rounding leaves."""
    whole = sum(estimated.values())
    if not whole:
        return estimated
    scaled = {category: tokens * total // whole for category, tokens in estimated.items()}
    largest = max(scaled, key=lambda category: scaled[category])
    scaled[largest] += total - sum(scaled.values())
    return scaled


def _largest(items: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(items, key=lambda item: -item[1])[:_LARGEST])


def _cost(desk: Desk, text: str) -> int:
    return desk.context.estimate([Message(role="user", content=text)])
