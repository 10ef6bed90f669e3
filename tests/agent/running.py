"""An agent that has been put together by hand, running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
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
        async with asyncio.timeout(20):
            await serving
            await reading
