"""Brings the agent's events to the screen in batches, at most thirty a second, neighbouring deltas joined.

Who types comes first: flowing text waits a moment after a key, and when drawing takes long there are fewer frames.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from kimi_tui.protocol.events import Event, TextDelta, ThinkingDelta, ToolOutputDelta

FRAME = 1 / 30
"""Seconds between two batches."""
BREATH = 0.04
"""Seconds after a key in which text that flows waits for the key's own echo."""
LONGEST_WAIT = 0.12
"""Seconds that text waits at most, however fast one types."""
REST = 3.0
"""So many times as long as a batch has taken, the loop is for others."""

_FLOWING = (TextDelta, ThinkingDelta, ToolOutputDelta)


class Pump:
    """Reads events as they come and hands them on in order; `deliver` is called on the same loop."""

    def __init__(
        self,
        deliver: Callable[[Sequence[Event]], None],
        frame: float = FRAME,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._deliver = deliver
        self._frame = frame
        self._clock = clock
        self._waiting: list[Event] = []
        self._since = 0.0
        """When the first of those came."""
        self._key = float("-inf")
        """When a key was pressed last."""
        self._arrived = asyncio.Event()
        self._ended = False

    def key(self) -> None:
        """A key was pressed: its echo comes first."""
        self._key = self._clock()

    async def run(self, events: AsyncIterator[Event]) -> None:
        """Until the events end. A fault of the reader or of `deliver` is raised here."""
        reader = asyncio.ensure_future(self._read(events))
        try:
            while not (self._ended and not self._waiting):
                await self._arrived.wait()
                await self._hold()
                self._arrived.clear()
                batch, self._waiting = self._waiting, []
                if batch:
                    began = self._clock()
                    self._deliver(batch)
                    await asyncio.sleep(max(self._frame, REST * (self._clock() - began)))
            await reader
        finally:
            reader.cancel()

    async def _hold(self) -> None:
        """Wait as long as a key comes first. What is more than flowing text does not wait."""
        while all(isinstance(event, _FLOWING) for event in self._waiting):
            left = min(self._key + BREATH, self._since + LONGEST_WAIT) - self._clock()
            if left <= 0 or not self._waiting:
                return
            await asyncio.sleep(left)

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
            self._since = self._since if self._waiting else self._clock()
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
