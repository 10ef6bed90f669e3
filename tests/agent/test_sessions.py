"""Other sessions, other models, the user's own commands, and a session that somebody else holds."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from kimi_tui.agent import grants
from kimi_tui.agent.telemetry import LIMIT, Telemetry
from kimi_tui.context import Context
from kimi_tui.protocol.commands import (
    AddDir,
    AnswerApproval,
    ChangeRotation,
    Close,
    Fork,
    Interrupt,
    KeepDraft,
    ListModels,
    ListSessions,
    NewSession,
    OpenSession,
    RemoveSession,
    RevertTo,
    RunShell,
    RunSlash,
    SendPrompt,
    SetMode,
    SetTitle,
    SwitchModel,
)
from kimi_tui.protocol.events import (
    ApprovalRequested,
    Closed,
    EntryAdded,
    ModelReady,
    ModelsListed,
    ModelUnavailable,
    ModesChanged,
    Noticed,
    PromptReturned,
    QueueChanged,
    RotationsListed,
    SessionOpened,
    SessionsListed,
    TitleChanged,
    ToolCallFinished,
    ToolOutputDelta,
    TranscriptReset,
    TurnEnded,
    TurnStarted,
)
from kimi_tui.protocol.views import Draft
from kimi_tui.session import DraftFile
from kimi_tui.tools.approval import AllowRule
from tests.agent.fakes import Asks, FakeOpener, ScriptedModel, bench, calls, message, says

DRAFT = Draft("half a [pasted #1: 20 lines] [image #1: a.png]", ("\n" * 19,), ("data:image/png;base64,AA==",))


async def test_the_first_event_opens_the_session_and_the_last_says_how_to_come_back(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("hello"))) as it:
        assert isinstance(it.events[0], SessionOpened) and it.events[0].resume_hint == ""
        assert isinstance(it.events[1], TranscriptReset)
        await it.turn("hi")
    assert it.events[-1] == Closed(f"kimi-tui -S {tmp_path / 's'}")


async def test_a_new_session_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("one"), says("two"))) as it:
        await it.turn("first")
        await it.do(NewSession())
        opened = it.last(SessionOpened)
        assert opened.path != str(tmp_path / "s") and it.last(TranscriptReset).total == 0
        await it.turn("second")
        assert it.model.sent() == ["user: second"]
        await it.do(OpenSession(str(tmp_path / "s")))
        assert [entry.text for entry in it.last(TranscriptReset).entries] == ["first", "one"]


async def test_a_fork_goes_on_in_a_copy_and_leaves_the_original_alone(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("one"), says("two"), says("three"))) as it:
        await it.turn("first")
        await it.turn("second")
        before = it.told()
        await it.do(Fork(2))
        assert it.last(TranscriptReset).prompt == "second"
        await it.turn("another second")
        assert it.model.sent() == ["user: first", "assistant: one", "user: another second"]
        assert it.told() == before


async def test_sessions_are_listed_named_and_removed(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("one"), says("two"))) as it:
        await it.do(NewSession())
        await it.turn("first")
        path = it.last(SessionOpened).path
        await it.do(NewSession())
        await it.turn("second")
        await it.do(SetTitle("The first", path))
        await it.do(SetTitle("The second"))
        assert it.last(TitleChanged).title == "The second"
        await it.do(ListSessions())
        assert {view.title for view in it.last(SessionsListed).sessions} == {"The first", "The second"}
        await it.do(RemoveSession(it.last(SessionOpened).path))
        assert "cannot be removed" in it.last(Noticed).text
        await it.do(RemoveSession(path))
        assert [view.title for view in it.last(SessionsListed).sessions] == ["The second"]


async def test_a_session_that_somebody_else_holds_can_be_read_and_gives_prompts_back(tmp_path: Path) -> None:
    other = Context(tmp_path / "s" / "context.jsonl")
    await other.append_message(message("user", "written elsewhere"))
    await other.close()
    holder = Context(tmp_path / "s" / "context.jsonl")
    await holder.restore()
    try:
        async with bench(tmp_path, ScriptedModel(says("never"))) as it:
            opened = it.last(SessionOpened)
            assert "process" in opened.read_only and "/fork" in opened.read_only
            assert [entry.text for entry in it.last(TranscriptReset).entries] == ["written elsewhere"]
            it.tell(SendPrompt("hi"))
            assert (await it.until(PromptReturned)).text == "hi"
            await it.do(RevertTo(0))
            assert it.last(Noticed).text == opened.read_only
            assert not it.all(TurnStarted)
    finally:
        await holder.close()


async def test_the_model_in_use_is_listed_among_the_others(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("from one"))) as it:
        opener = it.agent.opener
        assert isinstance(opener, FakeOpener)
        opener.models["two"] = ScriptedModel(says("from two"), window=5000)
        await it.do(ListModels())
        listed = await it.until(ModelsListed)
        assert listed.current == it.desk.model.view.name
        assert listed.current in [model.name for model in listed.models]


async def test_another_model_answers_from_the_next_prompt_on(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("from one"))) as it:
        second = ScriptedModel(says("from two"), window=5000)
        opener = it.agent.opener
        assert isinstance(opener, FakeOpener)
        opener.models["two"] = second
        await it.turn("first")
        await it.do(SwitchModel("two"))
        await it.until(ModelReady, 2)
        await it.turn("second")
        assert second.sent() == ["user: first", "assistant: from one", "user: second"]
        assert it.desk.tokens().window == 5000


async def test_modes_hold_at_once_and_are_remembered(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"))) as it:
        await it.do(SetMode("yolo", True))
        assert it.last(ModesChanged).modes.yolo and it.desk.approvals.yolo
        await it.do(SetMode("afk", True))
        assert not it.desk.approvals.attended
        await it.turn("go")
        assert "The user is away" in it.model.sent()[-1]
        assert it.last(EntryAdded).entry.kind == "injection"
    state, _ = it.desk.session.load_state()
    assert (state.yolo, state.afk, state.plan) == (True, True, False)


async def test_plan_mode_switched_on_by_hand_is_explained_before_the_next_call(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"), says("ok"))) as it:
        await it.do(SetMode("plan", True))
        await it.turn("plan it")
        reminders = [text for text in it.model.sent() if "Plan mode is on" in text]
        assert len(reminders) == 1 and str(it.desk.plan_file) in reminders[0]
        await it.turn("go on")
        assert len([text for text in it.model.sent() if "Plan mode is on" in text]) == 1


async def test_the_users_own_command_is_shown_and_told_to_the_model(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("I see."))) as it:
        await it.do(RunShell("echo '[/bold] hi'; exit 3"))
        assert "".join(event.text for event in it.all(ToolOutputDelta)) == "[/bold] hi\n"
        assert (it.last(ToolCallFinished).tool.subject, it.last(ToolCallFinished).tool.brief) == (
            "echo '[/bold] hi'; exit 3",
            "exit 3",
        )
        await it.turn("what happened?")
        assert "$ echo '[/bold] hi'; exit 3" in it.model.sent()[0] and "exit 3" in it.model.sent()[0]
        shown = it.desk.transcript.entries[0].tool
        assert shown and (shown.subject, shown.brief) == ("echo '[/bold] hi'; exit 3", "exit 3")


async def test_the_users_own_command_can_be_stopped(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as it:
        it.tell(RunShell("echo begun; sleep 60"))
        await it.until(ToolOutputDelta)
        it.tell(Interrupt())
        await it.until(ToolCallFinished)
        await it.idle()
        assert it.last(ToolCallFinished).tool.brief == "interrupted"


async def test_a_folder_can_be_added_for_the_tools(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    async with bench(tmp_path, ScriptedModel()) as it:
        await it.do(AddDir("more"))
        await it.do(AddDir("nothing here"))
        assert list(it.desk.dirs) == [tmp_path / "more"]
        assert "is not a folder" in it.last(Noticed).text


async def test_the_draft_is_kept(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"))) as it:
        await it.turn("hi")
        await it.do(KeepDraft(DRAFT))
    async with bench(tmp_path, ScriptedModel()) as again:
        assert (await again.until(SessionOpened)).draft == DRAFT


async def test_a_draft_is_on_the_disk_while_the_session_is_open_and_gone_once_it_was_sent(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"))) as it:
        await it.until(SessionOpened)
        await it.do(KeepDraft(DRAFT))
        await it.desk.unsent.flush()
        assert DraftFile(it.desk.session).load() == DRAFT, "what a kill would leave"
        await it.turn("hi")
        await it.do(KeepDraft(Draft()))
        await it.desk.unsent.flush()
        assert not [*it.desk.session.folder.glob("draft*.json")]


async def test_a_draft_goes_along_to_another_session(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"))) as it:
        await it.turn("hi")
        old = it.desk.session
        await it.do(KeepDraft(DRAFT))
        await it.do(NewSession())
        assert DraftFile(old).load() == Draft()


async def test_a_session_that_is_only_read_keeps_no_draft(tmp_path: Path) -> None:
    other = Context(tmp_path / "s" / "context.jsonl")
    await other.append_message(message("user", "written elsewhere"))
    await other.close()
    holder = Context(tmp_path / "s" / "context.jsonl")
    await holder.restore()
    async with bench(tmp_path, ScriptedModel()) as it:
        assert (await it.until(SessionOpened)).read_only
        await it.do(KeepDraft(DRAFT))
        await it.desk.unsent.flush()
        assert not [*it.desk.session.folder.glob("draft*")]
    await holder.close()


async def test_rotations_are_pinned_packed_and_removed(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("one"))) as it:
        await it.turn("first")
        await it.do(RevertTo(0))
        await it.do(ChangeRotation("context_1.jsonl", "pin"))
        assert it.last(RotationsListed).rotations[0].pinned
        await it.do(ChangeRotation("context_1.jsonl", "delete"))
        assert it.last(Noticed).severity == "error"
        await it.do(ChangeRotation("context_1.jsonl", "unpin"))
        await it.do(ChangeRotation("context_1.jsonl", "compress"))
        assert it.last(RotationsListed).rotations[0].compressed
        await it.do(ChangeRotation("context_1.jsonl", "delete"))
        assert it.last(RotationsListed).rotations == ()
        assert it.last(TranscriptReset).undo == ""


async def test_a_download_that_is_closed_ends_quietly(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.prepared.clear()
    async with bench(tmp_path, model) as it:
        while not it.agent.readiness._task:
            await asyncio.sleep(0)
        it.tell(Close())
        await it.until(Closed)
        assert not it.all(ModelUnavailable)


async def test_statistics_hold_numbers_and_no_content(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("a secret answer"))) as it:
        await it.turn("a secret question")
        it.tell(RunSlash("stats"))
        note = await it.until(EntryAdded)
        assert "turn: times 1" in note.entry.text
    written = (tmp_path / "telemetry.jsonl").read_text()
    assert "secret" not in written
    assert {json.loads(line)["event"] for line in written.splitlines()} == {"step", "turn"}


def test_the_statistics_file_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"event": "step", "input": 1}\n' * (LIMIT // 30 + 1))
    before = file.stat().st_size
    Telemetry(file).note("turn", steps=2)
    assert file.stat().st_size < before * 0.6
    assert Telemetry(file).summary()["turn"] == {"times": 1, "steps": 2}


async def test_what_was_allowed_for_the_session_is_remembered(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Asks", {"id": "a"})), calls(("Asks", {"id": "b"})), says("ok"))
    async with bench(tmp_path, model, tools=[Asks()]) as it:
        it.tell(SendPrompt("go"))
        request = await it.until(ApprovalRequested)
        it.tell(AnswerApproval(request.approval.request_id, "session"))
        await it.until(TurnEnded)
        assert len(it.all(ApprovalRequested)) == 1
    state, _ = it.desk.session.load_state()
    assert [grants.read(text) for text in state.approvals] == [AllowRule("Asks", "*")]


@pytest.mark.parametrize("rule", [AllowRule("Shell", "git (a) *"), AllowRule("Shell", "rm [x]\n", literal=True)])
def test_a_grant_is_read_as_it_was_written(rule: AllowRule) -> None:
    assert grants.read(grants.written(rule)) == rule


def test_a_grant_of_another_program_is_passed_over() -> None:
    assert grants.read("run shell command") is None


async def test_the_model_is_closed_with_the_agent(tmp_path: Path) -> None:
    model = ScriptedModel()
    async with bench(tmp_path, model):
        assert not model.closed
    assert model.closed


async def test_a_model_that_gets_ready_while_the_program_ends_starts_no_turn(tmp_path: Path) -> None:
    model = ScriptedModel(says("too late"))
    model.prepared.clear()
    async with bench(tmp_path, model) as it:
        it.tell(SendPrompt("hi"))
        await it.until(QueueChanged)
        it.tell(Close())
        model.prepared.set()
        await it.until(Closed)
        assert not it.agent.busy
    assert model.requests == []
