"""Background tasks in a session: what the model and the screen are told of them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kimi_tui.agent.session_tools import session_tools
from kimi_tui.agent.tasks.news import TaskInjectionProvider
from kimi_tui.agent.tasks.session_tasks import SessionTasks
from kimi_tui.background.identity import birth
from kimi_tui.protocol.commands import Compact, PreviewRevert, ReadTask, RevertTo, SetMode, StopTask
from kimi_tui.protocol.events import Noticed, RevertPreviewed, TaskRead, TasksChanged
from tests.agent.fakes import Bench, ScriptedModel, bench, calls, says
from tests.background.hosts import gone
from tests.background.test_orphans import killed_with


@asynccontextmanager
async def session(folder: Path, model: ScriptedModel) -> AsyncIterator[tuple[Bench, SessionTasks]]:
    async with bench(folder, model) as it:
        desk = it.desk
        desk.tasks = tasks = SessionTasks(desk.session, desk.emit)
        await tasks.find(folder / "sessions")
        for event in tasks.first_events():
            desk.emit(event)
        desk.injections.providers.append(TaskInjectionProvider(tasks.own))
        for tool in session_tools(desk):
            desk.toolset.add(tool)
        it.tell(SetMode("yolo", True))
        yield it, tasks


def in_background(command: str) -> tuple[str, dict[str, object]]:
    return "Shell", {"command": command, "run_in_background": True}


async def test_the_model_hears_of_the_end_before_its_next_call(tmp_path: Path) -> None:
    build = "until [ -e go ]; do sleep 0.01; done; echo built; exit 2"
    model = ScriptedModel(calls(in_background(build)), says("waiting"), says("I see"), says("ok"))
    async with session(tmp_path, model) as (it, tasks):
        await it.turn("build it")
        (it.desk.session.work_dir / "go").touch()
        task = tasks.own.all()[0]
        await tasks.own.wait(task.id, 60)
        await it.turn("how far is it?")
        told = model.sent(2)[-1]
        assert told.startswith("user: <system-reminder>")
        line = rf"{task.id} · failed after \S+ \S+: exit 2 · {re.escape(build)}; its output:\nbuilt\n"
        assert re.search(line, told)
        await it.turn("thanks")
        assert [text for text in model.sent(3) if "Background tasks have ended" in text] == [told]


async def test_news_that_was_taken_back_is_told_again(tmp_path: Path) -> None:
    wait = f"until [ -e '{tmp_path}/go' ]; do sleep 0.01; done"
    model = ScriptedModel(calls(in_background(wait)), says("waiting"), says("first"), says("second"))
    async with session(tmp_path, model) as (it, tasks):
        await it.turn("build it")
        (tmp_path / "go").touch()
        await tasks.own.wait(tasks.own.all()[0].id, 60)
        before = it.desk.context.n_checkpoints
        await it.turn("how far is it?")
        await it.do(RevertTo(before))
        await it.turn("and now?")
        assert "Background tasks have ended" in model.sent(3)[-1]


async def test_the_screen_sees_tasks_start_and_end_and_can_read_and_stop_them(tmp_path: Path) -> None:
    model = ScriptedModel(calls(in_background("echo up; exec sleep 60")), says("ok"))
    async with session(tmp_path, model) as (it, _tasks):
        await it.turn("serve")
        task = it.last(TasksChanged).tasks[0]
        assert task.status == "running"
        while not it.all(TaskRead) or not it.last(TaskRead).output:
            await it.do(ReadTask(task.id))
        assert it.last(TaskRead).output == "up\n"
        await it.do(StopTask(task.id))
        assert [(one.status, one.reason) for one in it.last(TasksChanged).tasks] == [("stopped", "stopped by the user")]
        await it.do(StopTask("task-none"))
        assert "no background task task-none" in it.last(Noticed).text


async def test_a_compaction_keeps_what_still_runs_in_mind(tmp_path: Path) -> None:
    model = ScriptedModel(calls(in_background("sleep 60")), says("ok"), says("more"))
    model.summaries.append(says("the summary"))
    async with session(tmp_path, model) as (it, tasks):
        await it.turn("serve")
        await it.turn("something else")
        await it.do(Compact())
        last = it.desk.context.history[-1].text()
        assert last.startswith("<system-reminder>")
        assert f"- {tasks.running()[0].id} · running for" in last


async def test_going_back_says_which_tasks_would_still_run(tmp_path: Path) -> None:
    model = ScriptedModel(says("hello"), calls(in_background("sleep 60")), says("ok"))
    async with session(tmp_path, model) as (it, _):
        await it.turn("hi")
        checkpoint = it.desk.context.n_checkpoints
        await it.turn("serve")
        await it.do(PreviewRevert(checkpoint))
        assert it.last(RevertPreviewed).preview.tasks == ("sleep 60",)


async def test_closing_the_session_ends_its_tasks(tmp_path: Path) -> None:
    model = ScriptedModel(calls(in_background("sleep 60")), says("ok"))
    async with session(tmp_path, model) as (it, tasks):
        await it.turn("serve")
        pid = tasks.running()[0].pid
        assert pid is not None and birth(pid)
    assert await gone(pid)
    assert tasks.running() == ()


async def test_what_another_session_left_is_reported_and_can_be_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "hash" / "killed"
    folder.mkdir(parents=True)
    killed_with(folder, "sleep 60")
    async with session(tmp_path, ScriptedModel()) as (it, _tasks):
        (task,) = (await it.until(TasksChanged)).tasks
        assert (task.command, task.orphan, task.session) == ("sleep 60", True, str(folder))
        await it.do(StopTask(task.id))
        assert it.last(TasksChanged).tasks == ()
        assert await gone(task.pid)


async def test_finding_leftovers_says_a_line_about_each(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (task_id,) = killed_with(folder, "sleep 60")
    async with bench(tmp_path, ScriptedModel()) as it:
        tasks = SessionTasks(it.desk.session, it.desk.emit)
        (line,) = await tasks.find(tmp_path / "sessions")
        assert line.startswith(f"still running from before: sleep 60 ({task_id}, process ")
        await tasks.close()
