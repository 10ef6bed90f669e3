"""Lets asynchronous code use the store: one change at a time, none interrupted, memory changed where it is read."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from kimi_tui.context.store import Publish

T = TypeVar("T")


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Of our own: what others do in threads must not hold a log up. One set a process: a forked one has no threads."""
    return ThreadPoolExecutor(16, thread_name_prefix="context")


class Writer:
    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def at_once(self, work: Callable[[], Publish]) -> None:
        """For what takes microseconds: done on the spot."""
        async with self._turn:
            work()()

    async def in_thread(self, work: Callable[[], tuple[T, Publish]]) -> T:
        """For what may wait for the disk.

        Neither the thread nor the loop holds on to the work afterwards: a context that is dropped is gone at once."""
        async with self._turn:
            todo, done = [work], list[tuple[T, Publish]]()
            job = _threads(os.getpid()).submit(lambda: done.append(todo.pop()()))
            try:
                await asyncio.wrap_future(job)
            finally:
                await _ended(job)
                for _, publish in done:  # when the caller was cancelled, too: the disk has changed, so memory must
                    publish()
            return done.pop()[0]

    async def change(self, work: Callable[[], Publish]) -> None:
        await self.in_thread(lambda: (None, work()))


async def _ended(job: Future[Any]) -> None:
    """A change that has begun is waited for, however often its caller is cancelled; one that has not will never be."""
    while not job.done():
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await asyncio.wrap_future(job)
