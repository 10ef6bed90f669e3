"""What a subagent in the background does to files follows time with all the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kimi_tui.agent.session_tools import session_tools
from kimi_tui.agent.tasks.session_tasks import SessionTasks
from kimi_tui.protocol.commands import PreviewRevert, RevertTo, SetMode, Undo
from kimi_tui.protocol.events import RevertPreviewed
from tests.agent.fakes import Bench, Wait, calls, says
from tests.agent.running import eventually
from tests.agent.test_background_subagents import ended, sent_off
from tests.agent.test_files import Pen, pen, recorded
from tests.agent.test_subagents import REPORT, Troupe


def named(number: int, call: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return call[0], {**call[1], "id": f"p{number}"}


@asynccontextmanager
async def beside(folder: Path, model: Troupe, *tools: Any) -> AsyncIterator[tuple[Bench, Path, SessionTasks]]:
    async with recorded(folder, model) as (b, work):
        b.desk.tasks = tasks = SessionTasks(b.desk.session, b.desk.emit)
        for tool in (*session_tools(b.desk), Pen(work), *tools):
            b.desk.toolset.add(tool)
        b.tell(SetMode("yolo", True))
        yield b, work, tasks


def read(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


async def test_what_it_changed_goes_and_comes_with_the_conversation(tmp_path: Path) -> None:
    steps = [calls(named(1, pen(a="two"))), calls(named(2, pen(b="new"))), says(REPORT)]
    model = Troupe(calls(sent_off("files")), says("ok"), files=steps)
    async with beside(tmp_path, model) as (b, work, tasks):
        checkpoint = b.desk.context.n_checkpoints
        await b.turn("go")
        await ended(tasks)
        assert (read(work / "a"), read(work / "b")) == ("two", "new")
        await b.do(PreviewRevert(checkpoint))
        assert {file.path: file.change for file in b.last(RevertPreviewed).preview.files} == {
            "a": "rewritten",
            "b": "deleted",
        }
        await b.do(RevertTo(checkpoint, files="restore"))
        assert (read(work / "a"), read(work / "b")) == ("one", None)
        await b.do(Undo())
        assert (read(work / "a"), read(work / "b")) == ("two", "new")


async def test_going_back_while_it_is_at_work_takes_back_what_it_did_until_then(tmp_path: Path) -> None:
    wait = Wait()
    steps = [
        calls(named(1, pen(a="two")), ("Wait", {"id": "w"}), named(2, pen(b="later"))),
        says(REPORT),
    ]
    model = Troupe(calls(sent_off("files")), says("ok"), says("again"), files=steps)
    async with beside(tmp_path, model, wait) as (b, work, tasks):
        checkpoint = b.desk.context.n_checkpoints
        await b.turn("go")
        await wait.begun.wait()
        await eventually(lambda: read(work / "a") == "two")
        await b.do(RevertTo(checkpoint, files="restore"))
        assert read(work / "a") == "one"
        wait.go.set()
        await ended(tasks)
        assert (read(work / "a"), read(work / "b")) == ("one", "later")
        await b.turn("and now?")
        await b.do(RevertTo(checkpoint, files="restore"))
        assert (read(work / "a"), read(work / "b")) == ("one", "later"), "that was before the newest turn"


async def test_beside_a_turn_that_changes_files_itself_nothing_is_lost(tmp_path: Path) -> None:
    wait = Wait()
    model = Troupe(
        calls(sent_off("files")),
        calls(named(3, pen(c="mine")), ("Wait", {"id": "w"})),
        says("ok"),
        files=[calls(named(1, pen(a="two"))), says(REPORT)],
    )
    async with beside(tmp_path, model, wait) as (b, work, tasks):
        checkpoint = b.desk.context.n_checkpoints
        wait.go.set()
        await b.turn("go")
        await ended(tasks)
        assert (read(work / "a"), read(work / "c")) == ("two", "mine")
        await b.do(RevertTo(checkpoint, files="restore"))
        assert (read(work / "a"), read(work / "c")) == ("one", None)
