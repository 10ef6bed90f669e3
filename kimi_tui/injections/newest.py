"""The newest message of its kind in a history that grows at its end: only what is new is looked through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from kimi_tui.protocol.messages import Message

T = TypeVar("T")

AT_ONCE = 100
"""Messages that are looked through on the spot; more of them in a worker."""


class Newest(Generic[T]):
    """Remembers what it has seen, for as long as time is not moved: a jump that takes the message away takes away the
    memory of it, and one that leaves it in place finds it again."""

    def __init__(self, look: Callable[[Message], T | None]) -> None:
        """`look` says what a message is to the provider; None for all that are not of the kind."""
        self._look = look
        self._found: tuple[int, T] | None = None
        self._until = 0
        """How many messages have been looked through, and which was the last of them."""
        self._last: Message | None = None

    async def find(self, history: Sequence[Message]) -> tuple[int, T] | None:
        """Where it stands, and what was seen in it."""
        known = self._until if 0 < self._until <= len(history) and history[self._until - 1] is self._last else 0
        if len(history) - known <= AT_ONCE:
            found = self._search(history, known)
        else:
            found = await asyncio.to_thread(self._search, history, known)
        self._found = found or (self._found if known else None)
        self._until, self._last = len(history), history[-1] if history else None
        return self._found

    def _search(self, history: Sequence[Message], start: int) -> tuple[int, T] | None:
        for index in range(len(history) - 1, start - 1, -1):
            seen = self._look(history[index])
            if seen is not None:
                return index, seen
        return None
