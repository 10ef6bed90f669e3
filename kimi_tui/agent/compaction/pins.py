"""Messages that the user wants to keep: compactions carry them over word for word.

A message is known by what it says and when it was said, so that a pin outlives restarts, jumps and compactions, and
nothing about it has to stand in the log. The identities are kept with the session's state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from kimi_tui.context.records import write_message
from kimi_tui.protocol.commands import PinEntry
from kimi_tui.protocol.events import EntriesChanged, Noticed
from kimi_tui.protocol.messages import Message

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent


class Pins:
    """A set of pinned messages. Asking costs nothing while there are none."""

    def __init__(self, identities: Sequence[str] = ()) -> None:
        self._identities = frozenset(identities)

    def holds(self, message: Message) -> bool:
        return bool(self._identities) and identity(message) in self._identities


def identity(message: Message) -> str:
    """The same for a message before and after it was written and read back."""
    line, _ = write_message(message)
    return hashlib.sha256(line).hexdigest()[:20]


def kept_before(history: Sequence[Message], cut: int, wanted: Set[int]) -> list[int]:
    """Indices before `cut` that have to be kept for the wanted ones: themselves, and calls with all their results."""
    kept: set[int] = set()
    for index in sorted(wanted):
        kept |= set(_group(history, index))
    return sorted(index for index in kept if index < cut)


def _group(history: Sequence[Message], index: int) -> range | tuple[int, ...]:
    """A message with what must not be parted from it. Results stand right behind the message that called."""
    start = index
    while start > 0 and history[start].role == "tool":
        start -= 1
    if not history[start].tool_calls:
        return (index,)
    stop = start + 1
    while stop < len(history) and history[stop].role == "tool":
        stop += 1
    return range(start, stop)


async def pin_entry(agent: Agent, command: PinEntry) -> None:
    """Pin a message, or let it go; the entries that stand for it show it."""
    desk = agent.desk
    found = desk.transcript.message_of(command.index)
    if found is None or found >= len(desk.context.history):
        agent.emit(Noticed("that is no message of the conversation, so it cannot be pinned", "warning"))
        return
    name = identity(desk.context.history[found])
    others = tuple(each for each in desk.state.pins if each != name)
    desk.state.pins = (*others, name) if command.on else others
    desk.keep_state()
    start, entries = desk.transcript.pin(found, command.on)
    agent.emit(EntriesChanged(start, entries))
