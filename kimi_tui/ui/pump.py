"""Brings the agent's events to the screen in batches, at most thirty a second, neighbouring deltas joined."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from kimi_tui.protocol.events import Event, TextDelta, ThinkingDelta, ToolOutputDelta

FRAME = 1 / 30
"""Seconds between two batches."""


class Pump:
    """Reads events as they come and hands them on in order; `deliver` is called on the same loop."""

    def __init__(self, deliver: Callable[[Sequence[Event]], None], frame: float = FRAME) -> None:
        self._deliver = deliver
        self._frame = frame
        self._waiting: list[Event] = []
        self._arrived = asyncio.Event()
        self._ended = False

    async def run(self, events: AsyncIterator[Event]) -> None:
        """Until the events end. A fault of the reader or of `deliver` is raised here."""
        reader = asyncio.ensure_future(self._read(events))
        try:
            while not (self._ended and not self._waiting):
                await self._arrived.wait()
                self._arrived.clear()
                batch, self._waiting = self._waiting, []
                if batch:
                    self._deliver(batch)
                    await asyncio.sleep(self._frame)
            await reader
        finally:
            reader.cancel()

    async def _read(self, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                self._take(event)
        finally:
            self._ended = True
            self._arrived.set()

    def _take(self, event: Event) -> None:
        last = self._waiting[-1] if self._waiting else None
        joined = _join(last, event)
        if joined is not None:
            self._waiting[-1] = joined
        else:
            self._waiting.append(event)
        self._arrived.set()


def _join(last: Event | None, event: Event) -> Event | None:
    """Two deltas of one kind as one, None when they do not belong together."""
    match last, event:
        case TextDelta(before), TextDelta(text):
            return TextDelta(before + text)
        case ThinkingDelta(before), ThinkingDelta(text):
            return ThinkingDelta(before + text)
        case ToolOutputDelta(call, before), ToolOutputDelta(other, text) if call == other:
            return ToolOutputDelta(call, before + text)
    return None
