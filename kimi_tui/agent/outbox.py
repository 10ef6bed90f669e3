"""What the agent tells: every event, in order, to one reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from kimi_tui.protocol.events import Closed, Event


class Outbox:
    """Never blocks the teller. The reader's iterator ends after `Closed`."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event] = asyncio.Queue()

    def emit(self, event: Event) -> None:
        self._queue.put_nowait(event)

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._queue.get()
            yield event
            if isinstance(event, Closed):
                return
