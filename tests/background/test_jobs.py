"""Work of the program itself as a background task: it is listed, read, stopped and lost like a command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.background import JobEnd, Order, Tasks
from kimi_tui.protocol.views import SubagentView, TaskView
from tests.background.hosts import HOST

VIEW = SubagentView("call-1", "a1", "explore", "look around", steps=3)


def order(work: Callable[[Callable[[str], None]], Any]) -> Order:
    return Order(work, "explore subagent a1: look around", "look around", "a1", "explore", "call-1", lambda: VIEW)


async def reports(say: Callable[[str], None]) -> JobEnd:
    say("Read parser.py  214 lines\n")
    return JobEnd("done", report="It is in parser.py:12.")


async def test_it_runs_beside_us_and_its_report_is_the_end_of_its_output(tmp_path: Path) -> None:
    ended: list[TaskView] = []
    tasks = Tasks(tmp_path, HOST, ended=ended.append)
    started = tasks.carry_out(order(reports))
    assert (started.status, started.agent) == ("running", VIEW)

    task = await tasks.wait(started.id, 60)

    assert task is not None and (task.status, task.exit_code, task.reason) == ("done", None, "")
    assert task.agent == SubagentView("call-1", "a1", "explore", "look around", "done")
    assert (await tasks.read(started.id)).text == "Read parser.py  214 lines\n\nIt is in parser.py:12.\n"
    assert await tasks.report(started.id) == "It is in parser.py:12.\n"
    assert ended == [task]
    assert [one.id for one in tasks.untold()] == [started.id]


async def test_stopping_it_cancels_the_work_and_waits_for_its_end(tmp_path: Path) -> None:
    cleaned = asyncio.Event()

    async def endless(say: Callable[[str], None]) -> JobEnd:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        raise AssertionError

    tasks = Tasks(tmp_path, HOST)
    started = tasks.carry_out(order(endless))
    stopped = await tasks.stop(started.id, "not needed")
    assert cleaned.is_set()
    assert stopped is not None and (stopped.status, stopped.reason) == ("stopped", "not needed")
    assert stopped.agent is not None and stopped.agent.state == "interrupted"
    assert await tasks.report(started.id) == ""


async def test_closing_ends_all_work(tmp_path: Path) -> None:
    async def endless(say: Callable[[str], None]) -> JobEnd:
        await asyncio.Event().wait()
        raise AssertionError

    tasks = Tasks(tmp_path, HOST)
    both = [tasks.carry_out(order(endless)).id for _ in range(2)]
    await tasks.close()
    assert [(task.id, task.status) for task in tasks.all()] == [(task_id, "stopped") for task_id in both]


async def test_work_that_breaks_has_failed_and_says_why(tmp_path: Path) -> None:
    async def breaks(say: Callable[[str], None]) -> JobEnd:
        raise RuntimeError("no such thing")

    tasks = Tasks(tmp_path, HOST)
    task = await tasks.wait(tasks.carry_out(order(breaks)).id, 60)
    assert task is not None and (task.status, task.reason) == ("failed", "it broke: RuntimeError: no such thing")


async def test_work_whose_program_was_killed_is_lost_at_the_next_start(tmp_path: Path) -> None:
    async def endless(say: Callable[[str], None]) -> JobEnd:
        say("Read parser.py\n")
        await asyncio.Event().wait()
        raise AssertionError

    killed = Tasks(tmp_path, HOST)
    started = killed.carry_out(order(endless))
    await asyncio.sleep(0)

    tasks = Tasks(tmp_path, HOST)
    assert await tasks.recover() == ()
    (task,) = tasks.all()
    assert (task.id, task.status, task.reason) == (started.id, "lost", "the program ended while it was at work")
    assert task.agent is not None and (task.agent.id, task.agent.state) == ("a1", "interrupted")
    assert (await tasks.read(task.id)).text == "Read parser.py\n"
    assert tasks.untold() == (task,), "the model is told"
    await killed.close()


async def test_a_report_is_never_more_than_was_asked_for(tmp_path: Path) -> None:
    async def talks(say: Callable[[str], None]) -> JobEnd:
        return JobEnd("done", report="漢" * 50_000)

    tasks = Tasks(tmp_path, HOST)
    started = tasks.carry_out(order(talks))
    await tasks.wait(started.id, 60)
    assert len(await tasks.report(started.id, 900)) == 300


async def test_output_that_cannot_be_kept_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("in the way")
    tasks = Tasks(tmp_path, HOST)
    with pytest.raises(OSError):
        tasks.carry_out(order(reports))
    assert tasks.all() == ()
    again = Tasks(tmp_path, HOST)
    await again.recover()
    assert [(task.status, again.untold()) for task in again.all()] == [("failed", ())]
