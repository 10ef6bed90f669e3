"""Work that an interrupt must not cut in two."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def land(work: Coroutine[Any, Any, T]) -> T:
    """Finish `work` even if cancelled meanwhile; the cancellation comes through at the next await after it."""
    task = asyncio.ensure_future(work)
    put_off = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            put_off = True
        except Exception:
            break
    if put_off and (current := asyncio.current_task()):
        current.cancel()
    return task.result()


async def settled(task: asyncio.Task[Any]) -> None:
    """Wait until a task has ended, however it ends."""
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
