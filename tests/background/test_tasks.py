"""Tasks of one run: real commands, from their start to their end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kimi_tui.background import Tasks
from kimi_tui.background.identity import birth
from tests.background.hosts import HOST, gone


@pytest.fixture
async def tasks(tmp_path: Path) -> AsyncIterator[Tasks]:
    made = Tasks(tmp_path / "s", HOST)
    yield made
    await made.close()


async def test_a_task_runs_beside_us_and_its_end_is_known(tasks: Tasks, tmp_path: Path) -> None:
    started = await tasks.start("echo out; echo err >&2; exit 3", tmp_path, description="both streams")
    assert (started.status, started.description) == ("running", "both streams")

    ended = await tasks.wait(started.id, 60)

    assert ended is not None
    assert (ended.status, ended.exit_code, ended.reason) == ("failed", 3, "")
    assert ended.ended_at is not None and ended.ended_at >= started.started_at
    assert (await tasks.read(started.id)).text == "out\nerr\n"
    assert tasks.running() == ()


async def test_exit_code_zero_is_done(tasks: Tasks, tmp_path: Path) -> None:
    started = await tasks.start("pwd", tmp_path)
    ended = await tasks.wait(started.id, 60)
    assert ended is not None and (ended.status, ended.exit_code) == ("done", 0)
    assert (await tasks.read(started.id)).text == f"{tmp_path}\n"


async def test_waiting_ends_when_its_time_is_over(tasks: Tasks, tmp_path: Path) -> None:
    started = await tasks.start("sleep 60", tmp_path)
    waited = await tasks.wait(started.id, 0.01)
    assert waited is not None and waited.status == "running"


async def test_stopping_ends_everything_that_the_command_started(tasks: Tasks, tmp_path: Path) -> None:
    command = "setsid sleep 77 & echo $!; trap '' TERM; sleep 78 & echo $!; echo ready; wait; sleep 79"
    started = await tasks.start(command, tmp_path)
    pids = [int(line) for line in (await _output_with(tasks, started.id, "ready")).split()[:2]]
    assert all(birth(pid) for pid in pids)

    stopped = await tasks.stop(started.id, "enough")

    assert stopped is not None and (stopped.status, stopped.reason) == ("stopped", "enough")
    assert await gone(*pids, started.pid)


async def test_a_task_that_leaves_a_child_behind_runs_as_long_as_the_child_writes(tasks: Tasks, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    started = await tasks.start(f"(cat {gate}) & echo started", tmp_path)
    await _output_with(tasks, started.id, "started")
    assert tasks.running()

    with gate.open("w") as writer:
        writer.write("late\n")

    ended = await tasks.wait(started.id, 60)
    assert ended is not None and ended.status == "done"
    assert (await tasks.read(started.id)).text == "started\nlate\n"


async def test_a_time_out_ends_the_task_and_says_so(tasks: Tasks, tmp_path: Path) -> None:
    for seconds in (1, 8, 60):  # a busy machine needs longer to get to the first word
        started = await tasks.start("echo before; sleep 600", tmp_path, timeout=seconds)
        ended = await tasks.wait(started.id, 120)
        assert ended is not None and (ended.status, ended.reason) == ("failed", f"timed out after {seconds} s")
        if said := (await tasks.read(started.id)).text:
            break
    assert said == "before\n"


async def test_a_command_that_cannot_be_started_leaves_no_task(tasks: Tasks, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file or directory"):
        await tasks.start("true", tmp_path / "nowhere")
    assert tasks.all() == ()


async def test_closing_ends_what_runs_and_keeps_what_has_ended(tasks: Tasks, tmp_path: Path) -> None:
    done = await tasks.start("true", tmp_path)
    await tasks.wait(done.id, 60)
    running = [await tasks.start("sleep 60", tmp_path) for _ in range(3)]

    await tasks.close("closed")

    assert [(task.status, task.reason) for task in tasks.all()] == [("done", ""), *[("stopped", "closed")] * 3]
    assert await gone(*(task.pid for task in running))


async def test_the_model_is_to_be_told_of_an_end_once(tasks: Tasks, tmp_path: Path) -> None:
    started = await tasks.start("true", tmp_path)
    assert tasks.untold() == ()
    await tasks.wait(started.id, 60)
    assert [task.id for task in tasks.untold()] == [started.id]
    tasks.mark_told(started.id)
    assert tasks.untold() == ()


async def test_every_change_is_told(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    tasks = Tasks(tmp_path / "s", HOST)
    tasks.changed = lambda: seen.append([task.status for task in tasks.all()])
    started = await tasks.start("true", tmp_path)
    await tasks.wait(started.id, 60)
    assert seen == [["running"], ["done"]]


async def test_only_so_many_run_at_a_time(tasks: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kimi_tui.background.tasks.MOST", 1)
    await tasks.start("sleep 60", tmp_path)
    with pytest.raises(ValueError, match="stop one first"):
        await tasks.start("sleep 60", tmp_path)


async def test_secrets_of_the_environment_do_not_reach_a_task(
    tasks: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKE-0123456789")
    started = await tasks.start("env", tmp_path)
    await tasks.wait(started.id, 60)
    assert "sk-FAKE" not in (await tasks.read(started.id)).text


async def _output_with(tasks: Tasks, task_id: str, word: str) -> str:
    """The output as soon as the word is in it: the file is read until then, but no longer than the task runs."""
    while True:
        text = (await tasks.read(task_id)).text
        if word in text:
            return text
        waited = await tasks.wait(task_id, 0.02)
        assert waited is not None and waited.status == "running", f"{word!r} never came: {text!r}"
