"""Files follow time: with the user's jumps and their undoing, and with a D-Mail when that is wanted."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel

from kimi_tui.agent.travel.files import Files
from kimi_tui.protocol.commands import Interrupt, PreviewFile, PreviewRevert, Redo, RevertTo, SendPrompt, Undo
from kimi_tui.protocol.events import (
    ContextSwitched,
    FilePreviewed,
    Noticed,
    RevertPreviewed,
    TranscriptReset,
    TurnEnded,
)
from kimi_tui.protocol.views import DiffView, FileTouched
from kimi_tui.session.snapshots import SnapshotLog, Snapshots, Why
from kimi_tui.session.snapshots.disk import WorkTree
from kimi_tui.session.snapshots.values import Held
from kimi_tui.tools.base import Call, ToolResult
from tests.agent.fakes import Bench, Echo, ScriptedModel, Wait, bench, calls, quick, says
from tests.session.trees import Picture, picture, plant


class PenParams(BaseModel):
    path: str
    text: str | None


class Pen:
    """Writes a file, or deletes it, as a tool that changes things does."""

    name: ClassVar[str] = "Pen"
    Params: ClassVar[type[BaseModel]] = PenParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = False
    description = "Writes."

    def __init__(self, work: Path) -> None:
        self._work = work

    def describe(self, params: PenParams) -> tuple[str, str]:
        return "Write", params.path

    async def __call__(self, params: PenParams, call: Call) -> ToolResult:
        path = self._work / params.path
        if params.text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(params.text)
        return ToolResult("written")


def pen(**files: str | None) -> tuple[str, dict[str, Any]]:
    ((name, text),) = files.items()
    return "Pen", {"path": name.replace("__", "/"), "text": text}


@asynccontextmanager
async def recorded(tmp_path: Path, model: ScriptedModel, **fields: Any) -> AsyncIterator[tuple[Bench, Path]]:
    """An agent whose work dir `work` is recorded; every look at the clock is a second later."""
    work, clock = tmp_path / "work", count(1000.0)
    plant(work, a="one")
    async with bench(tmp_path, model, tools=[Pen(work)], clock=lambda: next(clock), **fields) as it:
        record(it, work)
        yield it, work


def record(it: Bench, work: Path) -> None:
    it.desk.files = Files(
        Snapshots(work), SnapshotLog(it.folder), tell=lambda text: it.desk.emit(Noticed(text)), clock=it.desk.clock
    )


def three_turns() -> ScriptedModel:
    return ScriptedModel(
        calls(pen(a="two"), pen(b__c="two")),
        says("zwei"),
        calls(pen(a="three")),
        calls(pen(b__c=None)),
        says("drei"),
    )


async def test_going_back_takes_the_files_along_and_undo_and_redo_bring_them_again(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        moments: list[Picture] = [picture(work)]
        await it.turn("first")
        moments.append(picture(work))
        await it.turn("second")
        moments.append(picture(work))
        await it.do(RevertTo(3, files="restore"))
        assert picture(work) == moments[1]
        assert it.last(Noticed).text == "files: 2 put back"
        await it.do(RevertTo(0, files="restore"))
        assert picture(work) == moments[0]
        for command, moment in ((Undo(), 1), (Undo(), 2), (Redo(), 1), (Redo(), 0), (Undo(), 1), (Undo(), 2)):
            await it.do(command)
            assert picture(work) == moments[moment]
        assert len(it.all(ContextSwitched)) == 8
        assert it.last(TranscriptReset).undo == ""


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_walk_through_time_brings_back_every_record_and_every_byte(tmp_path: Path, seed: int) -> None:
    """Turns, jumps with files, undo and redo in any order: conversation and files are each time what they were."""
    chance = random.Random(seed)
    texts: list[tuple[str, dict[str, Any]]] = [
        pen(**{chance.choice(["a", "b", "d__e"]): f"{number}"}) for number in range(WALK)
    ]
    async with recorded(tmp_path, ScriptedModel(*(each for text in texts for each in (calls(text), says("ok"))))) as (
        it,
        work,
    ):
        past: list[Moment] = []
        undo: list[Moment] = []
        redo: list[Moment] = []

        def now() -> Moment:
            return it.told_if_any(), picture(work)

        for number in range(WALK):
            here = now()
            way = chance.choice(["turn", "turn", "back", "undo", "redo"])
            if way == "back" and any(is_earlier(here, moment) for moment in past):
                goal = chance.choice([moment for moment in past if is_earlier(here, moment)])
                await it.do(RevertTo(next_id(goal), files="restore"))
                assert now() == goal
                undo, redo = [*undo, here], []
            elif way == "undo" and undo:
                await it.do(Undo())
                assert now() == undo[-1]
                undo, redo = undo[:-1], [*redo, here]
            elif way == "redo" and redo:
                await it.do(Redo())
                assert now() == redo[-1]
                undo, redo = [*undo, here], redo[:-1]
            else:
                await it.turn(f"turn {number}")
                past.append(here)


WALK = 14

Moment = tuple[list[str], Picture]


def is_earlier(here: Moment, moment: Moment) -> bool:
    """The moment lies in the past of the same timeline, and there is something to go back from."""
    return bool(moment[0]) and len(moment[0]) < len(here[0]) and here[0][: len(moment[0])] == moment[0]


def next_id(moment: Moment) -> int:
    """Of the checkpoint that was set right after the moment."""
    return sum(record.startswith("checkpoint ") for record in moment[0])


async def test_a_rotation_is_restored_with_the_files_as_they_were_when_it_was_left(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(pen(a="two"), pen(b__c="two")), says("zwei"), calls(pen(a="three"), pen(d="new")), says("drei")
    )
    async with recorded(tmp_path, model) as (it, work):
        before = picture(work)
        await it.turn("first")
        then, chat = picture(work), it.told()
        await it.do(RevertTo(0, files="restore"))
        await it.turn("second")
        now, rotation = picture(work), "context_1.jsonl"
        assert before != now != then
        await it.do(PreviewRevert(None, rotation))
        seen = it.last(RevertPreviewed).preview
        assert seen.restorable and {file.path for file in seen.files} == {"a", "b/c", "d"}
        await it.do(RevertTo(None, rotation, files="restore"))
        assert (it.told(), picture(work)) == (chat, then)
        await it.do(Undo())
        assert picture(work) == now
        await it.do(RevertTo(None, rotation))
        assert (it.told(), picture(work)) == (chat, now)


async def test_a_jump_of_the_conversation_alone_and_its_undoing_touch_no_file(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        await it.turn("first")
        seen = picture(work)
        await it.do(RevertTo(0))
        await it.do(Undo())
        assert picture(work) == seen


async def test_files_alone_can_go_back_and_come_again(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        before = picture(work)
        await it.turn("first")
        after = picture(work)
        told = it.told()
        await it.do(RevertTo(0, files="only"))
        assert picture(work) == before
        assert it.last(TranscriptReset).undo == "putting the files back"
        await it.do(Undo())
        assert picture(work) == after
        assert it.last(TranscriptReset).redo == "putting the files back"
        await it.do(Redo())
        assert picture(work) == before
        assert it.told() == told


async def test_changes_of_an_erased_timeline_are_taken_back_too(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        before = picture(work)
        await it.turn("first")
        between = picture(work)
        await it.turn("second")
        await it.do(RevertTo(3))
        await it.do(RevertTo(0, files="restore"))
        assert picture(work) == before
        await it.do(RevertTo(3, file="context_1.jsonl", files="restore"))
        assert picture(work) == between


async def test_what_the_user_has_edited_since_is_named_and_left_alone_unless_asked_for(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        await it.turn("first")
        plant(work, a="mine", own="mine")
        await it.do(PreviewRevert(0))
        preview = it.last(RevertPreviewed).preview
        assert preview.restorable
        assert preview.files == (FileTouched("a", True, "rewritten"), FileTouched("b/c", False, "deleted"))
        await it.do(RevertTo(0, files="restore"))
        assert it.last(Noticed).text == "files: 1 removed; left as they are: a (edited since)"
        assert (work / "a").read_text() == (work / "own").read_text() == "mine"
        await it.do(Undo())
        await it.do(RevertTo(0, files="restore", overwrite=("a",)))
        assert (work / "a").read_text() == "one"
        await it.do(Undo())
        assert (work / "a").read_text() == (work / "own").read_text() == "mine"


async def test_a_preview_shows_what_would_become_of_one_file(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, _):
        await it.turn("first")
        await it.do(PreviewFile("a", 0))
        assert it.last(FilePreviewed) == FilePreviewed("a", DiffView("a", "two", "one"))


async def test_the_difference_of_a_file_the_user_has_edited_shows_what_that_edit_would_lose(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        await it.turn("first")
        plant(work, a="mine")
        await it.do(PreviewFile("a", 0))
        assert it.last(FilePreviewed) == FilePreviewed("a", DiffView("a", "mine", "one"))


async def test_a_new_process_knows_the_files_of_the_earlier_one(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        before = picture(work)
        await it.turn("first")
        after = picture(work)
        await it.desk.files.close()
        record(it, work)
        await it.do(RevertTo(0, files="restore"))
        assert picture(work) == before
        await it.desk.files.close()
        record(it, work)
        await it.do(Undo())
        assert picture(work) == after


async def test_a_step_that_was_cut_off_by_a_kill_can_be_taken_back(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        before = picture(work)
        await it.turn("first")
        await it.desk.files.close()
        log = it.folder / "snapshots.jsonl"
        log.write_text(log.read_text().splitlines()[0] + '\n{"n":1,"aft')
        record(it, work)
        await it.do(RevertTo(0, files="restore"))
        assert picture(work) == before


async def test_a_d_mail_leaves_the_files_and_takes_them_along_when_wanted(tmp_path: Path) -> None:
    for wanted in (False, True):
        model = ScriptedModel(
            calls(pen(a="two")), calls(("SendDMail", {"message": "do not", "checkpoint_id": 1})), says("done")
        )
        loop = quick(dmail_restores_files=wanted)
        async with recorded(tmp_path / str(wanted), model, loop=loop, dmail=True) as (it, work):
            await it.turn("go")
            assert it.last(ContextSwitched).switch.why == "dmail"
            assert (work / "a").read_text() == ("one" if wanted else "two")
            await it.do(Undo())
            assert (work / "a").read_text() == "two"


async def test_a_turn_goes_on_where_files_cannot_be_recorded(tmp_path: Path) -> None:
    async with recorded(tmp_path, three_turns()) as (it, work):
        it.desk.files = Files(
            Snapshots(Path("/")), SnapshotLog(it.folder), tell=lambda text: it.desk.emit(Noticed(text))
        )
        assert (await it.turn("first")).reason == "done"
        assert [notice.text for notice in it.all(Noticed)] == [
            "files are not recorded: the work folder is the root of the file system"
        ]
        await it.do(RevertTo(0, files="only"))
        assert (work / "a").read_text() == "two"
        assert "not recorded" in it.last(Noticed).text


async def test_a_tool_does_not_wait_for_ever_for_a_folder_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin" / "git"
    plant(tmp_path, bin__git=f'#!/bin/sh\ncase "$*" in *ls-files*) sleep 60;; esac\nexec {shutil.which("git")} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent), prepend=os.pathsep)
    monkeypatch.setattr("kimi_tui.agent.travel.files.PATIENCE_SECONDS", 0.2)
    async with recorded(tmp_path, three_turns()) as (it, work):
        assert (await it.turn("first")).reason == "done"
        assert [notice.text.partition(":")[0] for notice in it.all(Noticed)] == ["files are not recorded yet"]
        assert (work / "a").read_text() == "two"


async def test_an_interrupted_step_can_be_taken_back(tmp_path: Path) -> None:
    wait = Wait()
    async with recorded(tmp_path, ScriptedModel(calls(pen(a="two"), ("Wait", {})))) as (it, work):
        it.desk.toolset.add(wait)
        before = picture(work)
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(Interrupt())
        await it.until(TurnEnded)
        await it.idle()
        await it.do(RevertTo(0, files="restore"))
        assert picture(work) == before


async def test_tools_that_only_read_cost_no_snapshot(tmp_path: Path) -> None:
    async with recorded(tmp_path, ScriptedModel(calls(("Echo", {"text": "a"})), says("ok"))) as (it, _):
        it.desk.toolset.add(Echo())
        await it.turn("go")
        assert not (it.folder / "snapshots.jsonl").exists()


class Killed(BaseException):
    """The program ends here: nothing catches it."""


@pytest.mark.parametrize("files", ["restore", "only"])
async def test_a_restore_that_was_killed_in_the_middle_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Literal["restore", "only"]
) -> None:
    async with recorded(tmp_path, ScriptedModel(calls(pen(a="two"), pen(b="two")), says("zwei"))) as (it, work):
        before = picture(work)
        await it.turn("go")
        there, chat = picture(work), (it.folder / "context.jsonl").read_bytes()
        (mark, *_) = it.desk.context.checkpoints
        passages, write = it.desk.files.since(mark), WorkTree.write

        def killed(disk: WorkTree, path: str, held: Held, data: bytes) -> None:
            raise Killed

        monkeypatch.setattr(WorkTree, "write", killed)
        why: Why = "revert" if files == "restore" else "only"
        with pytest.raises(Killed):
            await it.desk.files.take_back(passages, why, live=it.desk.context.timeline.live_id)
        monkeypatch.setattr(WorkTree, "write", write)
        assert picture(work) not in (before, there)
        record(it, work)  # as when the session is opened again
        await it.do(Undo())
        assert picture(work) == there and (it.folder / "context.jsonl").read_bytes() == chat
        await it.do(RevertTo(mark.id, files=files))
        assert picture(work) == before
        await it.do(Undo())
        assert picture(work) == there and (it.folder / "context.jsonl").read_bytes() == chat
