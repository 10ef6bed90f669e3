"""What fills the context: tokens by category, adding up to the gauge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kimi_tui.agent.marks import mark_of
from kimi_tui.agent.travel.dropping import is_dropped
from kimi_tui.agent.travel.rows import first_line
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import TokenShare

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

_LARGEST = 5


def shares(desk: Desk) -> tuple[TokenShare, ...]:
    """The categories, largest first. The parts are estimates, scaled so that their sum is the gauge's, and so are the
    items."""
    found: dict[str, list[_Item]] = defaultdict(list)
    for category, item in _items(desk):
        found[category].append(item)
    estimated = {category: sum(item.tokens for item in items) for category, items in found.items()}
    scaled = _scaled(estimated, desk.total)
    result = [_share(category, scaled[category], items) for category, items in found.items()]
    return tuple(sorted(result, key=lambda share: -share.tokens))


class _Item(NamedTuple):
    name: str
    tokens: int
    entry: int | None = None
    """The chat entry of a result that can be dropped."""


def _share(category: str, tokens: int, items: list[_Item]) -> TokenShare:
    largest = sorted(items, key=lambda item: -item.tokens)[:_LARGEST]
    whole = sum(item.tokens for item in items)
    named = tuple((item.name, item.tokens * tokens // whole if whole else 0) for item in largest)
    return TokenShare(category, tokens, False, named, tuple(item.entry for item in largest))


def _items(desk: Desk) -> Iterator[tuple[str, _Item]]:
    if desk.system_prompt:
        yield "system", _Item("system prompt", _cost(desk, desk.system_prompt))
    for tool in desk.toolset.specs() if desk.model.view.tools else ():
        yield "tools", _Item(tool.name, _cost(desk, tool.counted))
    names, entries = _call_names(desk), _call_entries(desk)
    for message in desk.context.history:
        tokens = desk.context.estimate([message])
        if message.role == "tool":
            call = message.tool_call_id or ""
            entry = None if is_dropped(message) else entries.get(call)
            yield "tool results", _Item(names.get(call) or message.role, tokens, entry)
        else:
            yield _category(message), _Item(first_line(message.text(" ")) or message.role, tokens)


def _call_entries(desk: Desk) -> dict[str, int]:
    """Where the calls stand in the chat."""
    entries = enumerate(desk.transcript.entries)
    return {entry.tool.call_id: index for index, entry in entries if entry.tool and entry.tool.call_id}


def _category(message: Message) -> str:
    if message.role == "user":
        return {"": "user", "summary": "summary", "dmail": "D-Mail"}.get(mark_of(message), "injections")
    return message.role


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


def _cost(desk: Desk, text: str) -> int:
    return desk.context.estimate([Message(role="user", content=text)])
