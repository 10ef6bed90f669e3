"""A program is killed while its tasks run: the next one finds them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kimi_tui.background import Tasks, left_over
from kimi_tui.background.identity import birth
from kimi_tui.background.ledger import Ledger, ledger_file
from tests.background.hosts import HOST, gone


@asynccontextmanager
async def after_a_kill(folder: Path, *commands: str) -> AsyncIterator[tuple[Tasks, list[str]]]:
    """The tasks that a program had started on `folder` when it was killed, as the next program gets them."""
    folder.mkdir(parents=True)
    ids = killed_with(folder, *commands)
    tasks = Tasks(folder, HOST)
    try:
        yield tasks, ids
    finally:
        await tasks.recover()
        await tasks.close()


def killed_with(folder: Path, *commands: str) -> list[str]:
    program = [sys.executable, "-m", "tests.background.hosts", str(folder), *commands]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert process.stdout is not None
    with process.stdout as said:
        ids = [said.readline().strip() for _ in commands]
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    return ids


def until_gone(pid: int | None) -> None:
    """It is not our child, so it can only be looked for."""
    assert pid is not None
    end = time.monotonic() + 60
    while birth(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not birth(pid)


async def test_a_task_of_a_killed_program_still_runs_and_can_be_stopped(tmp_path: Path) -> None:
    async with after_a_kill(tmp_path / "s", "while echo tick; do sleep 0.05; done") as (tasks, ids):
        found = await tasks.recover()

        assert [(task.id, task.status, task.orphan) for task in found] == [(ids[0], "running", True)]
        pid = found[0].pid
        assert pid is not None and birth(pid)

        stopped = await tasks.stop(ids[0], "found again")
        assert stopped is not None and (stopped.status, stopped.reason) == ("stopped", "found again")
        assert await gone(pid)
        assert "tick" in (await tasks.read(ids[0])).text


async def test_the_end_of_a_task_is_known_though_nobody_was_there(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with after_a_kill(tmp_path / "s", f"cat {gate}; exit 4") as (tasks, ids):
        ledger = Ledger(ledger_file(tmp_path / "s")).read()[ids[0]]
        gate.write_text("all of it\n")
        until_gone(ledger.keeper)

        assert await tasks.recover() == ()

        ended = tasks.get(ids[0])
        assert ended is not None and (ended.status, ended.exit_code) == ("failed", 4)
        assert (await tasks.read(ids[0])).text == "all of it\n"
        assert [task.id for task in tasks.untold()] == ids


async def test_an_adopted_task_is_followed_to_its_end(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with after_a_kill(tmp_path / "s", f"cat {gate}") as (tasks, ids):
        await tasks.recover()
        gate.write_text("then it ended\n")
        ended = await tasks.wait(ids[0], 60)
        assert ended is not None and (ended.status, ended.exit_code, ended.orphan) == ("done", 0, True)


async def test_a_task_whose_keeper_was_killed_too_is_lost_and_leaves_nothing_running(tmp_path: Path) -> None:
    async with after_a_kill(tmp_path / "s", "sleep 66") as (tasks, ids):
        task = Ledger(ledger_file(tmp_path / "s")).read()[ids[0]]
        assert task.keeper is not None and task.pid is not None
        os.kill(task.keeper, signal.SIGKILL)
        until_gone(task.keeper)

        assert await tasks.recover() == ()

        lost = tasks.get(ids[0])
        assert lost is not None and (lost.status, lost.exit_code) == ("lost", None)
        assert await gone(task.pid)


async def test_another_session_is_told_what_was_left_running(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "hash" / "killed"
    other = tmp_path / "sessions" / "hash" / "open"
    async with after_a_kill(folder, "sleep 67") as (tasks, ids):
        assert left_over(tmp_path / "sessions", other) == [folder]
        assert left_over(tmp_path / "sessions", folder) == []

        await tasks.recover()
        await tasks.stop(ids[0])
        assert left_over(tmp_path / "sessions", other) == []


async def test_tasks_of_a_living_program_are_nobody_elses(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "hash" / "alive"
    tasks = Tasks(folder, HOST)
    await tasks.start("sleep 68", tmp_path)
    assert left_over(tmp_path / "sessions", tmp_path) == []
    await tasks.close()


async def test_a_number_that_another_process_has_now_is_left_alone(tmp_path: Path) -> None:
    ledger = Ledger(ledger_file(tmp_path))
    ours = {"keeper": os.getpid(), "keeper_born": "another boot 1", "pid": None}
    ledger.add("task-1", command="sleep 1", mark="nobody", **ours)
    tasks = Tasks(tmp_path, HOST)
    assert await tasks.recover() == ()
    assert [task.status for task in tasks.all()] == ["lost"]


async def test_damaged_lines_of_the_ledger_cost_only_themselves(tmp_path: Path) -> None:
    file = ledger_file(tmp_path)
    ledger = Ledger(file)
    ledger.add("task-1", command="true", status="done", exit_code=0)
    with file.open("ab") as writer:
        writer.write(
            b'\xff\xfe\n[1]\n{"id": 5}\n{"id": "task-2"}\n{"id": "task-3", "command": 1}\n{"id": "task-1", "reas'
        )
    ledger.add("task-4", command="false", status="failed", exit_code=1, unknown="kept by a later version")

    tasks = Tasks(tmp_path, HOST)
    await tasks.recover()

    assert [(task.id, task.status) for task in tasks.all()] == [("task-1", "done"), ("task-4", "failed")]
    assert json.loads(file.read_bytes().splitlines()[-1])["id"] == "task-4"
