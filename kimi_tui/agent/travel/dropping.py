"""Taking a single tool result out of the context: the call stays, its result becomes a short note."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import meta
from kimi_tui.agent.travel.moves import moved
from kimi_tui.agent.travel.rows import first_line
from kimi_tui.protocol.commands import DropResult
from kimi_tui.protocol.events import Noticed
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk

DROPPED = "dropped"
"""The key in `kt` that says so."""


async def drop_result(agent: Agent, command: DropResult) -> None:
    """A switch of timelines like any other: what was there is a rotation, and `Undo` brings it back."""
    desk = agent.desk
    found = await asyncio.to_thread(_result_of, desk, command.index)
    if found is None:
        agent.emit(Noticed("there is no result of a tool to drop", "warning"))
    elif is_dropped(desk.context.history[found]):
        agent.emit(Noticed("that result is dropped already"))
    else:
        await land(_drop(desk, found, _called(desk, command.index)))


async def _drop(desk: Desk, index: int, name: str) -> None:
    old = desk.context.history[index]
    new = without_result(old)
    freed = await asyncio.to_thread(_freed, desk, old, new)
    usage = max(0, desk.total - freed) if desk.context.token_count else None
    switch = await desk.context.replace_message(index, new, usage=usage, note=name)
    desk.telemetry.note("prune", before=switch.tokens[0], after=switch.tokens[1])
    await moved(desk, switch)


def _freed(desk: Desk, old: Message, new: Message) -> int:
    """Tokens that go, on the scale of the gauge: estimates of all parts may add up to more than was counted."""
    whole = desk.context.estimate(desk.context.history) + desk.overhead()
    freed = desk.context.estimate([old]) - desk.context.estimate([new])
    return int(freed * min(1.0, desk.total / max(1, whole)))


def without_result(message: Message) -> Message:
    """The same answer to the same call, saying only that it was taken out."""
    said = prompt("dropped_result").format(characters=len(message.text()))
    return message.model_copy(update={"content": [TextPart(text=said)], "kt": {**meta(message), DROPPED: True}})


def is_dropped(message: Message) -> bool:
    return meta(message).get(DROPPED) is True


def _result_of(desk: Desk, entry: int) -> int | None:
    """Where the result stands of the call that a chat entry shows."""
    entries, history = desk.transcript.entries, desk.context.history
    tool = entries[entry].tool if 0 <= entry < len(entries) else None
    start = desk.transcript.message_of(entry)
    if tool is None or not tool.call_id or start is None:
        return None
    for index in range(start + 1, len(history)):
        if history[index].role == "tool" and history[index].tool_call_id == tool.call_id:
            return index
    return None


def _called(desk: Desk, entry: int) -> str:
    tool = desk.transcript.entries[entry].tool
    return first_line(f"{tool.verb} {tool.subject}") if tool else ""
