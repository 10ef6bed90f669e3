"""TaskList, TaskOutput, TaskStop, and Shell when it starts a background task: on real tasks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kimi_tui.background import Tasks
from kimi_tui.protocol.views import TaskView
from kimi_tui.tools.agent import AgentParams
from kimi_tui.tools.background import line_of
from kimi_tui.tools.base import Decision
from kimi_tui.tools.shell import Shell
from kimi_tui.tools.task_list import TaskList
from kimi_tui.tools.task_output import TaskOutput
from kimi_tui.tools.task_stop import TaskStop
from tests.background.hosts import HOST
from tests.tools.tool_desk import Desk


@dataclass
class Bench:
    desk: Desk
    tasks: Tasks

    async def start(self, command: str, **more: object) -> str:
        result = await self.desk.run(Shell(self.tasks), command=command, run_in_background=True, **more)
        assert result.outcome == "ok", result.message
        return result.brief


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    tasks = Tasks(tmp_path / "session", HOST)
    yield Bench(Desk(tmp_path), tasks)
    await tasks.close()


async def test_shell_starts_a_task_after_approval_and_goes_on(bench: Bench) -> None:
    result = await bench.desk.run(
        Shell(bench.tasks), command="sleep 60", run_in_background=True, description="a long one"
    )
    task = bench.tasks.running()[0]
    assert (task.command, task.description, result.brief) == ("sleep 60", "a long one", task.id)
    assert task.id in result.message and task.output_file in result.message
    assert [(view.action, view.detail) for view in bench.desk.approvals] == [
        ("run a command in the background", "sleep 60")
    ]


async def test_without_approval_nothing_is_started(bench: Bench) -> None:
    bench.desk.decision = Decision(False, "not now")
    result = await bench.desk.run(Shell(bench.tasks), command="sleep 60", run_in_background=True)
    assert result.outcome == "rejected"
    assert bench.tasks.all() == ()


async def test_a_model_may_call_it_background(bench: Bench) -> None:
    assert (await bench.desk.run(Shell(bench.tasks), command="sleep 60", background=True)).outcome == "ok"
    assert len(bench.tasks.running()) == 1
    assert AgentParams.model_validate({"description": "x", "prompt": "y", "background": True}).run_in_background


async def test_a_task_runs_without_a_limit_unless_one_is_given(bench: Bench) -> None:
    await bench.start("sleep 60")
    limited = await bench.start("sleep 60", timeout=1)
    ended = await bench.tasks.wait(limited, 60)
    assert ended is not None and (ended.status, ended.reason) == ("failed", "timed out after 1 s")
    assert len(bench.tasks.running()) == 1


async def test_a_task_that_cannot_be_started_is_a_fault_for_the_model(bench: Bench) -> None:
    bench.desk.work_dir = bench.desk.work_dir / "gone"
    result = await bench.desk.run(Shell(bench.tasks), command="true", run_in_background=True)
    assert (result.outcome, result.brief) == ("error", "not started")
    assert "No such file" in result.message


async def test_the_list_shows_what_runs_and_on_demand_what_has_ended(bench: Bench) -> None:
    ended, running = await bench.start("exit 3"), await bench.start("sleep 60")
    await bench.tasks.wait(ended, 60)

    listed = await bench.desk.run(TaskList(bench.tasks))
    assert (listed.brief, listed.output.count("\n")) == ("1 task", 0)
    assert re.match(rf"{running} · running for \S+ \S+ · sleep 60", listed.output)

    everything = await bench.desk.run(TaskList(bench.tasks), active_only=False)
    assert re.search(rf"{ended} · failed after \S+ \S+: exit 3 · exit 3", everything.output)


async def test_an_empty_list_says_so(bench: Bench) -> None:
    assert (await bench.desk.run(TaskList(bench.tasks))).message == "No background task is running."
    assert (await bench.desk.run(TaskList(bench.tasks), active_only=False)).message == "There are no background tasks."


async def test_output_of_a_running_task_comes_at_once(bench: Bench) -> None:
    task = await bench.start("sleep 60")
    result = await bench.desk.run(TaskOutput(bench.tasks), task_id=task)
    assert (result.brief, result.output) == ("running", "")
    assert "is running for" in result.message and "written nothing" in result.message


async def test_blocking_waits_for_the_end(bench: Bench) -> None:
    task = await bench.start("printf '\\033[31mred\\033[0m\\rover\\n'; exit 2")
    result = await bench.desk.run(TaskOutput(bench.tasks), task_id=task, block=True, timeout=60)
    assert (result.outcome, result.brief, result.output) == ("ok", "exit 2", "over\n")
    assert "failed after" in result.message
    assert bench.tasks.untold() == ()


async def test_blocking_ends_when_its_time_is_over(bench: Bench) -> None:
    task = await bench.start("sleep 60")
    result = await bench.desk.run(TaskOutput(bench.tasks), task_id=task, block=True, timeout=0)
    assert result.brief == "running" and "waited for 0 s" in result.message


async def test_of_long_output_the_end_is_shown_and_the_file_named(bench: Bench) -> None:
    task = await bench.start("seq 100000")
    result = await bench.desk.run(TaskOutput(bench.tasks), task_id=task, block=True)
    assert result.output.endswith("99999\n100000\n") and len(result.output) <= 32_000
    assert "588,895 bytes" in result.message and f"{task}.log" in result.message


async def test_stopping_a_task_and_stopping_it_again(bench: Bench) -> None:
    task = await bench.start("sleep 60")
    assert (await bench.desk.run(TaskStop(bench.tasks), task_id=task, reason="done with it")).brief == "stopped"
    again = await bench.desk.run(TaskStop(bench.tasks), task_id=task)
    assert (again.outcome, again.brief) == ("ok", "had ended")
    assert "done with it" in again.message


@pytest.mark.parametrize("tool", [TaskOutput, TaskStop])
async def test_an_unknown_task_is_a_fault_that_names_the_known_ones(
    bench: Bench, tool: type[TaskOutput] | type[TaskStop]
) -> None:
    known = await bench.start("true")
    result = await bench.desk.run(tool(bench.tasks), task_id="task-nope")
    assert (result.outcome, result.brief) == ("error", "no such task")
    assert known in result.message


@pytest.mark.parametrize(
    ("task", "line"),
    [
        (TaskView("t", "a\nb", "running", started_at=0), "t · running for 2.0 h · a b"),
        (TaskView("t", "a", "done", started_at=0, ended_at=120, exit_code=0), "t · done after 2.0 min: exit 0 · a"),
        (TaskView("t", "a", "failed", started_at=0, ended_at=1, exit_code=-9), "t · failed after 1 s: signal 9 · a"),
        (
            TaskView("t", "a", "stopped", "why", started_at=5, ended_at=1, reason="x"),
            "t · stopped after 0 s: x · a · why",
        ),
    ],
)
def test_a_task_in_one_line(task: TaskView, line: str) -> None:
    assert line_of(task, now=7200) == line
