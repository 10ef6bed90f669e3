"""Changes go through one at a time, are never cut in two, and cross to a thread and back."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from kimi_tui.context.writer import Writer


class Work:
    """A change that waits in its thread until it may go on."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.published = False
        self._fault = fault

    def __call__(self) -> Callable[[], None]:
        self.begun.set()
        self.go_on.wait()
        if self._fault:
            raise self._fault
        return self._publish

    def _publish(self) -> None:
        self.published = True


async def begun(work: Work) -> None:
    await asyncio.to_thread(work.begun.wait)


async def test_a_change_that_has_begun_is_finished_and_published_however_often_it_is_cancelled() -> None:
    work = Work()
    task = asyncio.create_task(Writer().change(work))
    await begun(work)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done()
    work.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.published


async def test_a_cancelled_change_that_fails_changes_nothing_in_memory() -> None:
    work = Work(OSError("full"))
    task = asyncio.create_task(Writer().change(work))
    await begun(work)
    task.cancel()
    work.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not work.published


async def test_the_next_change_waits_for_a_cancelled_one() -> None:
    writer, first, second = Writer(), Work(), Work()
    second.go_on.set()
    task = asyncio.create_task(writer.change(first))
    await begun(first)
    task.cancel()
    following = asyncio.create_task(writer.change(second))
    await asyncio.sleep(0)
    assert not second.begun.is_set()
    first.go_on.set()
    await following
    assert first.published
    assert second.published
    assert task.cancelled()


async def test_writers_do_not_wait_for_each_other() -> None:
    slow, fast = Work(), Work()
    fast.go_on.set()
    task = asyncio.create_task(Writer().change(slow))
    await begun(slow)
    await Writer().change(fast)
    assert fast.published
    assert not slow.published
    slow.go_on.set()
    await task


FORKS = """
import asyncio, os
from kimi_tui.context.writer import Writer

async def changes():
    await Writer().change(lambda: lambda: None)

asyncio.run(changes())
child = os.fork()
if child == 0:
    asyncio.run(changes())
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
