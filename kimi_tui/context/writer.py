"""Lets asynchronous code use the store: one change at a time, none interrupted, memory changed where it is read."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future
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
            job = self._thread.submit(work)
            try:
                result, publish = await asyncio.wrap_future(job)
            except asyncio.CancelledError:
                await _ended(job)
                if not job.cancelled() and job.exception() is None:  # the disk has changed, and so must memory
                    job.result()[1]()
                raise
            publish()
            return result

    async def change(self, work: Callable[[], Publish]) -> None:
        await self.in_thread(lambda: (None, work()))


async def _ended(job: Future[Any]) -> None:
    """A change that has begun is waited for, however often its caller is cancelled; one that has not will never be."""
    while not job.done():
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await asyncio.wrap_future(job)
