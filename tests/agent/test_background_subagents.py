"""Subagents that work beside the turn, and what is shown of those of an earlier time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kimi_tui.agent.session_tools import session_tools
from kimi_tui.agent.tasks.news import TaskInjectionProvider
from kimi_tui.agent.tasks.session_tasks import SessionTasks
from kimi_tui.hooks import HookDef
from kimi_tui.protocol.commands import (
    AnswerApproval,
    Interrupt,
    ReadSubagent,
    ReadTask,
    SendPrompt,
    StopTask,
    SwitchModel,
)
from kimi_tui.protocol.events import (
    ApprovalRequested,
    ApprovalWithdrawn,
    ModesChanged,
    Noticed,
    SubagentChanged,
    SubagentRead,
    TaskRead,
    TasksChanged,
    ToolCallFinished,
    ToolOutputDelta,
    TurnEnded,
)
from kimi_tui.tools.base import Tool
from tests.agent.fakes import Asks, Bench, Echo, Wait, bench, calls, says
from tests.agent.running import eventually
from tests.agent.test_subagents import REPORT, Troupe, delegated, folder_of, result_of


@asynccontextmanager
async def session(
    folder: Path, model: Troupe, *tools: Tool, hooks: tuple[HookDef, ...] = (), headless: bool = False
) -> AsyncIterator[tuple[Bench, SessionTasks]]:
    """An agent with all its tools; what an earlier one left in the folder is found."""
    async with bench(folder, model, hooks=hooks, headless=headless) as b:
        desk = b.desk
        desk.tasks = tasks = SessionTasks(desk.session, desk.emit, desk.hooks)
        await tasks.find(folder / "sessions")
        for event in tasks.first_events():
            desk.emit(event)
        desk.injections.providers.append(TaskInjectionProvider(tasks.own))
        for tool in (*session_tools(desk), *tools):
            desk.toolset.add(tool)
        yield b, tasks


def sent_off(task: str, **more: object) -> tuple[str, dict[str, object]]:
    return delegated(task, run_in_background=True, **more)


async def ended(tasks: SessionTasks) -> None:
    for task in tasks.own.running():
        await tasks.own.wait(task.id, 60)


async def test_the_turn_goes_on_at_once_and_the_report_is_told_before_a_later_call(tmp_path: Path) -> None:
    go = asyncio.Event()
    model = Troupe(
        calls(sent_off("parsers")),
        says("I have sent someone."),
        says("It is in src/parser.py."),
        parsers=[calls(("Echo", {"text": "x", "id": "e1"}), text="First a look."), [go, *says(REPORT)]],
    )
    async with session(tmp_path, model, Echo()) as (b, tasks):
        assert (await b.turn("where is the parser?")).reason == "done"
        (task,) = tasks.own.running()
        assert f"works in the background as {task.id}" in result_of(b)
        assert b.all(ToolCallFinished)[0].tool.brief == task.id
        go.set()
        await ended(tasks)
        assert not any("Background tasks have ended" in text for text in model.sent(1)), "nothing is told too early"
        await b.turn("and?")
        told = model.sent(2)[-1]
        assert "Background tasks have ended" in told
        assert f"{task.id} · done after" in told and told.count(REPORT) == 1
        assert "coder subagent" in told and "look at parsers; its report:" in told
        assert "".join(event.text for event in b.all(ToolOutputDelta)) == "First a look.\nEcho x  echoed\n"
        view = b.last(SubagentChanged).subagent
        assert (view.call_id, view.state, view.steps, view.tool_calls) == ("call-parsers", "done", 2, 1)


async def test_an_interrupt_of_the_turn_leaves_it_at_work_and_it_can_be_stopped(tmp_path: Path) -> None:
    wait, theirs = Wait(), asyncio.Event()
    model = Troupe(
        calls(sent_off("gold"), ("Wait", {"id": "w"})),
        calls(("TaskStop", {"task_id": "?", "id": "s"})),
        says("stopped"),
        gold=[[theirs, *says(REPORT)]],
    )
    async with session(tmp_path, model, wait) as (b, tasks):
        b.tell(SendPrompt("go"))
        await wait.begun.wait()
        b.tell(Interrupt())
        assert (await b.until(TurnEnded)).reason == "interrupted"
        (task,) = tasks.own.running()
        await b.do(StopTask(task.id))
        (task,) = b.last(TasksChanged).tasks
        assert (task.status, task.reason) == ("stopped", "stopped by the user")
        assert b.last(SubagentChanged).subagent.state == "interrupted"
        name = folder_of(b).name
        assert b.desk.subagents is not None and not b.desk.subagents.running
        model.replies[:] = [calls(delegated("more", resume=name)), says("ok")]
        theirs.set()
        model.parts["gold"] = [says(REPORT)]
        await b.turn("go on")
        assert result_of(b).endswith(REPORT), "it goes on with what it remembers"
        assert f"`resume` with id {name} goes on with it" in "".join(model.sent(1))


async def test_what_it_wants_to_do_is_asked_in_its_name_when_no_turn_runs(tmp_path: Path) -> None:
    model = Troupe(
        calls(sent_off("doors")), says("ok"), doors=[calls(("Asks", {"id": "a"})), says("They are all open now.")]
    )
    async with session(tmp_path, model, Asks()) as (b, tasks):
        await b.turn("go")
        asked = await b.until(ApprovalRequested)
        assert asked.approval.asker == "look at doors"
        b.tell(AnswerApproval(asked.approval.request_id, "once"))
        await ended(tasks)
        (task,) = tasks.own.all()
        assert (task.status, await tasks.own.report(task.id)) == ("done", "They are all open now.\n")


async def test_a_rejection_ends_it_and_not_the_turn(tmp_path: Path) -> None:
    model = Troupe(calls(sent_off("doors")), says("ok"), says("I see"), doors=[calls(("Asks", {"id": "a"}))])
    async with session(tmp_path, model, Asks()) as (b, tasks):
        await b.turn("go")
        asked = await b.until(ApprovalRequested)
        b.tell(AnswerApproval(asked.approval.request_id, "reject"))
        await ended(tasks)
        (task,) = tasks.own.all()
        assert task.status == "failed" and "The user rejected" in task.reason
        assert (await b.turn("and?")).reason == "done"


async def test_stopping_it_withdraws_what_it_asked(tmp_path: Path) -> None:
    model = Troupe(calls(sent_off("doors")), says("ok"), doors=[calls(("Asks", {"id": "a"}))])
    async with session(tmp_path, model, Asks()) as (b, tasks):
        await b.turn("go")
        asked = await b.until(ApprovalRequested)
        await b.do(StopTask(tasks.own.running()[0].id))
        assert b.last(ApprovalWithdrawn).request_id == asked.approval.request_id


async def test_the_task_tools_know_it(tmp_path: Path) -> None:
    go = asyncio.Event()
    model = Troupe(calls(sent_off("parsers")), says("ok"), parsers=[[go, *says(REPORT)]])
    async with session(tmp_path, model) as (b, tasks):
        await b.turn("go")
        task = tasks.own.running()[0].id
        model.replies += [
            calls(("TaskList", {"id": "l"})),
            [go.set, *calls(("TaskOutput", {"task_id": task, "block": True, "timeout": 600, "id": "o"}))],
            calls(("TaskStop", {"task_id": task, "id": "s"})),
            says("ok"),
        ]
        await b.turn("how is it?")
        assert f"{task} · running for" in result_of(b, -3) and "coder subagent" in result_of(b, -3)
        assert result_of(b, -3).count("look at parsers") == 1
        assert f"{task} is done after" in result_of(b, -2) and REPORT in result_of(b, -2)
        assert "had ended already: done" in result_of(b, -1)
        assert not any("Background tasks have ended" in text for text in model.sent()), "it was seen already"


async def test_one_at_work_is_not_resumed_a_second_time(tmp_path: Path) -> None:
    go = asyncio.Event()
    model = Troupe(calls(sent_off("gold")), says("ok"), gold=[[go, *says(REPORT)]])
    async with session(tmp_path, model) as (b, tasks):
        await b.turn("go")
        subagents = b.desk.subagents
        assert subagents is not None
        await eventually(lambda: bool(subagents.running))
        (name,) = subagents.running
        model.replies += [calls(delegated("more", resume=name)), says("ok")]
        await b.turn("again")
        assert "is still at work" in result_of(b)
        go.set()
        await ended(tasks)


async def test_the_model_is_not_switched_away_under_it(tmp_path: Path) -> None:
    model = Troupe(calls(sent_off("gold")), says("ok"), gold=[[asyncio.Event()]])
    async with session(tmp_path, model) as (b, tasks):
        b.agent.opener.models["other"] = Troupe()  # type: ignore[attr-defined]
        await b.turn("go")
        await eventually(lambda: "gold" in model.asked)
        await b.do(SwitchModel("other"))
        assert "a subagent works in the background" in b.last(Noticed).text
        await b.do(StopTask(tasks.own.running()[0].id))
        await b.do(SwitchModel("other"))
        assert "the model is" in b.last(ModesChanged).reason


async def test_closing_the_session_ends_it_and_its_context_is_whole(tmp_path: Path) -> None:
    model = Troupe(calls(sent_off("gold")), says("ok"), gold=[[asyncio.Event()]])
    async with session(tmp_path, model) as (b, _):
        await b.turn("go")
        await eventually(lambda: "gold" in model.asked)
        folder = folder_of(b)
    lines = [json.loads(line) for line in (folder / "context.jsonl").read_text().splitlines()]
    assert [line["role"] for line in lines if not line["role"].startswith("_")] == ["user"]
    async with session(tmp_path, Troupe()) as (b, tasks):
        (task,) = tasks.own.all()
        assert (task.status, task.reason) == ("stopped", "the program was closed")


async def test_a_hook_hears_of_the_end_of_every_task(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    hook = HookDef("Notification", f"cat >> {heard}", "task")
    model = Troupe(calls(sent_off("gold")), says("ok"), gold=[says(REPORT)])
    async with session(tmp_path, model, hooks=(hook,)) as (b, tasks):
        await b.turn("go")
        await ended(tasks)
        task = await tasks.own.start("exit 3", tmp_path)
        await tasks.own.wait(task.id, 60)
        await b.desk.hooks.finish()
        said = [json.loads(part + "}") for part in heard.read_text().split("}") if part.strip()]
        assert {(one["notification_type"], one["title"].partition(" ")[2]) for one in said} == {
            ("task", "done"),
            ("task", "failed"),
        }
        assert any("exit 3" in one["body"] for one in said)


async def test_where_nobody_is_there_it_is_said_that_the_run_ends_with_the_answer(tmp_path: Path) -> None:
    model = Troupe(calls(sent_off("gold")), says("ok"), gold=[[asyncio.Event()]])
    async with session(tmp_path, model, headless=True) as (b, _):
        await b.turn("go")
        assert "This run ends with your answer" in result_of(b)


# --- what is shown of an earlier time ---


async def test_after_a_restart_the_card_has_its_steps_again(tmp_path: Path) -> None:
    step = calls(("Echo", {"text": "x", "id": "e1"}), text="First a look.")
    model = Troupe(calls(delegated("parsers")), says("fine"), parsers=[step, says(REPORT, tokens=4000)])
    async with session(tmp_path, model, Echo()) as (b, _):
        await b.turn("go")
        seen, view = "".join(event.text for event in b.all(ToolOutputDelta)), b.last(SubagentChanged).subagent
    async with session(tmp_path, Troupe(), Echo()) as (b, _):
        await b.do(ReadSubagent("call-parsers"))
        read = b.last(SubagentRead)
        assert read.subagent is not None
        assert read.steps == seen == "First a look.\nEcho x  echoed\n"
        again = read.subagent
        assert (again.call_id, again.id, again.type, again.description, again.state) == (
            view.call_id,
            view.id,
            view.type,
            view.description,
            view.state,
        )
        assert (again.steps, again.tool_calls) == (view.steps, view.tool_calls)
        assert (again.tokens.total, again.tokens.window) == (4000, 100_000)


async def test_of_one_that_was_resumed_each_card_has_its_own_steps(tmp_path: Path) -> None:
    first = [calls(("Echo", {"text": "one", "id": "e1"})), says(REPORT)]
    second = [calls(("Echo", {"text": "two", "id": "e2"})), says(REPORT)]
    model = Troupe(calls(delegated("first")), says("ok"), first=[*first, *second])
    async with session(tmp_path, model, Echo()) as (b, _):
        await b.turn("go")
        model.replies += [calls(delegated("it again", resume=folder_of(b).name)), says("ok")]
        await b.turn("and again")
        for call, steps in (("call-first", "Echo one  echoed\n"), ("call-it again", "Echo two  echoed\n")):
            await b.do(ReadSubagent(call))
            assert b.last(SubagentRead).steps == steps


async def test_a_call_without_a_subagent_has_none_to_show(tmp_path: Path) -> None:
    async with session(tmp_path, Troupe()) as (b, _):
        await b.do(ReadSubagent("call-none"))
        assert b.last(SubagentRead) == SubagentRead("call-none", None)


async def test_a_task_that_is_read_shows_its_conversation_live_and_after_its_end(tmp_path: Path) -> None:
    go = asyncio.Event()
    model = Troupe(
        calls(sent_off("parsers")),
        says("ok"),
        parsers=[calls(("Echo", {"text": "x", "id": "e1"})), [go, *says(REPORT)]],
    )
    async with session(tmp_path, model, Echo()) as (b, tasks):
        await b.turn("go")
        await eventually(lambda: len(model.asked.get("parsers", ())) == 2)
        task = tasks.own.running()[0].id
        await b.do(ReadTask(task))
        read = b.last(TaskRead)
        assert [(entry.kind, entry.text or (entry.tool and entry.tool.subject)) for entry in read.entries] == [
            ("user", "Look at parsers."),
            ("tool", "x"),
        ]
        assert read.task.agent is not None and read.task.agent.state == "running"
        go.set()
        await ended(tasks)
        await b.do(ReadTask(task))
        read = b.last(TaskRead)
        assert read.entries[-1].text == REPORT
        assert read.task.agent is not None
        assert (read.task.agent.state, read.task.agent.tokens.window) == ("done", 100_000)


async def test_one_that_was_killed_is_lost_and_can_be_read_and_resumed(tmp_path: Path) -> None:
    model = Troupe(
        calls(sent_off("gold")), says("ok"), gold=[calls(("Echo", {"text": "x", "id": "e1"})), [asyncio.Event()]]
    )
    async with session(tmp_path, model, Echo()) as (b, tasks):
        await b.turn("go")
        await eventually(lambda: len(model.asked.get("gold", ())) == 2)
        ledger = b.folder / "tasks" / "tasks.jsonl"
        await eventually(lambda: (folder_of(b) / "state.json").exists())
        killed, name = ledger.read_bytes(), folder_of(b).name
    ledger.write_bytes(killed)
    model = Troupe(says("I see"), calls(delegated("more", resume=name)), says("ok"), gold=[says(REPORT)])
    async with session(tmp_path, model, Echo()) as (b, tasks):
        (task,) = tasks.own.all()
        assert task.status == "lost"
        await b.do(ReadTask(task.id))
        assert [entry.kind for entry in b.last(TaskRead).entries] == ["user", "tool"]
        await b.turn("what happened?")
        assert f"{task.id} · lost after" in model.sent()[-1] and f"`resume` with id {name}" in model.sent()[-1]
        await b.turn("go on")
        assert result_of(b).endswith(REPORT)
