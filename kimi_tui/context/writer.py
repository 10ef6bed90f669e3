"""Lets asynchronous code use the store: one change at a time, none interrupted, memory changed where it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures.thread import ThreadPoolExecutor
from typing import Any, TypeVar

from kimi_tui.context.store import Publish

T = TypeVar("T")


class Writer:
    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="context")
        """Of our own: what others do in threads must not hold the log up."""

    async def at_once(self, work: Callable[[], Publish]) -> None:
        """For what takes microseconds: done on the spot."""
        async with self._turn:
            work()()

    async def in_thread(self, work: Callable[[], tuple[T, Publish]]) -> T:
        """For what may wait for the disk."""
        async with self._turn:
            return await shielded(self._work_and_publish(work))

    async def change(self, work: Callable[[], Publish]) -> None:
        await self.in_thread(lambda: (None, work()))

    async def _work_and_publish(self, work: Callable[[], tuple[T, Publish]]) -> T:
        result, publish = await asyncio.get_running_loop().run_in_executor(self._thread, work)
        publish()
        return result


async def shielded(work: Coroutine[Any, Any, T]) -> T:
    """Runs to its end even when the caller is cancelled; the caller learns of it only then."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            task.exception()  # seen: the cancelled caller will not ask for it
        raise
