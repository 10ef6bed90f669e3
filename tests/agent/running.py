"""An agent that has been put together by hand, running; and time for what real processes have to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kimi_tui.protocol.commands import Close
from tests.agent.fakes import Bench


@asynccontextmanager
async def running(it: Bench) -> AsyncIterator[Bench]:
    """Until the end of the block; then it is closed in good order."""
    reading, serving = asyncio.create_task(it.pump()), asyncio.create_task(it.agent.run())
    try:
        yield it
    finally:
        it.agent.submit(Close())
        async with asyncio.timeout(60):
            await serving
            await reading


async def eventually(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until it holds. The time is for a very busy machine."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.01)
