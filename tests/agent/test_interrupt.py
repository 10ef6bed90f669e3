"""Esc at any instant: the turn ends, the log stays valid, every started call has exactly one result."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.llm.model import Finish, ModelFault, TextPiece, Usage
from kimi_tui.protocol.commands import AnswerApproval, Interrupt, SendPrompt
from kimi_tui.protocol.events import (
    ApprovalRequested,
    ApprovalWithdrawn,
    EntryAdded,
    PromptReturned,
    RetryScheduled,
    TextDelta,
    ToolCallFinished,
    TurnEnded,
    TurnStarted,
)
from tests.agent.fakes import Asks, Bench, Echo, ScriptedModel, Wait, bench, calls, quick, says


def unanswered(it: Bench) -> list[str]:
    """Calls on disk that do not have exactly one result."""
    records = it.records()
    wanted = [call["id"] for record in records for call in record.get("tool_calls", ())]
    results = [record["tool_call_id"] for record in records if record["role"] == "tool"]
    return [call for call in wanted if results.count(call) != wanted.count(call)] + [
        r for r in results if r not in wanted
    ]


async def test_what_the_user_has_read_is_kept_without_its_calls(tmp_path: Path) -> None:
    hold = asyncio.Event()
    reply = [TextPiece("I will now"), hold, TextPiece(" never"), Usage(1, 1), Finish("stop")]
    async with bench(tmp_path, ScriptedModel(reply, says("Yes"))) as it:
        it.tell(SendPrompt("go"))
        await it.until(TextDelta)
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).reason == "interrupted"
        assert it.told()[-1] == "assistant: I will now"
        await it.turn("go on")
        assert it.model.sent()[-3:] == ["user: go", "assistant: I will now", "user: go on"]


async def test_a_running_tool_ends_with_an_interrupted_result(tmp_path: Path) -> None:
    wait = Wait()
    model = ScriptedModel(calls(("Wait", {"id": "w1"}), ("Echo", {"id": "w2", "text": "later"})))
    async with bench(tmp_path, model, tools=[wait, Echo()]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).reason == "interrupted"
        assert unanswered(it) == []
        assert [event.tool.outcome for event in it.all(ToolCallFinished)] == ["interrupted", "interrupted"]
        words = [line for line in it.told() if line.startswith("tool")]
        assert len(set(words)) == 2, "what ran and what never ran are told apart"


async def test_an_approval_that_waits_is_withdrawn(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(calls(("Asks", {}))), tools=[Asks()]) as it:
        it.tell(SendPrompt("go"))
        request = await it.until(ApprovalRequested)
        it.tell(Interrupt())
        await it.until(TurnEnded)
        assert it.last(ApprovalWithdrawn).request_id == request.approval.request_id
        assert unanswered(it) == []


async def test_a_rejection_without_a_word_ends_the_turn_and_one_with_a_word_does_not(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Asks", {"id": "a"})), calls(("Asks", {"id": "b"})), says("As you say"))
    async with bench(tmp_path, model, tools=[Asks()]) as it:
        it.tell(SendPrompt("go"))
        request = await it.until(ApprovalRequested)
        it.tell(AnswerApproval(request.approval.request_id, "reject"))
        await it.until(TurnEnded)
        await it.idle()
        it.tell(SendPrompt("try again"))
        request = await it.until(ApprovalRequested, 2)
        it.tell(AnswerApproval(request.approval.request_id, "reject", "not that one"))
        ended = await it.until(TurnEnded, 2)
        assert (ended.reason, ended.steps) == ("done", 2)
        assert "not that one" in it.told()[-4]


async def test_a_waiting_retry_ends_at_once(tmp_path: Path) -> None:
    from dataclasses import replace

    from kimi_tui.llm.retry import RetryPolicy

    loop = replace(quick(), retry=RetryPolicy(first_wait=30))
    async with bench(tmp_path, ScriptedModel([ModelFault("server", "503")] * 1), loop=loop) as it:
        it.tell(SendPrompt("go"))
        await it.until(RetryScheduled)
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).reason == "interrupted"


async def test_the_prompt_is_given_back_when_it_was_not_yet_stored(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("never"))) as it:
        it.tell(SendPrompt("first"), Interrupt())
        await it.until(TurnEnded)
        stored = any(line == "user: first" for line in it.told()) if (it.folder / "context.jsonl").exists() else False
        assert stored != any(event.text == "first" for event in it.all(PromptReturned))


async def test_what_was_queued_comes_back_into_the_input(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {}))), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(SendPrompt("then this"), Interrupt())
        await it.until(TurnEnded)
        assert it.last(PromptReturned).text == "then this"
        assert len(it.all(TurnStarted)) == 1


@pytest.mark.parametrize("moment", range(1, 60, 2))
async def test_a_turn_that_is_stopped_at_any_moment_leaves_a_log_that_goes_on(tmp_path: Path, moment: int) -> None:
    """Cancelled after the `moment`-th turn of the event loop, then continued."""
    model = ScriptedModel(
        calls(("Echo", {"id": "e1", "text": "a"}), ("Asks", {"id": "e2"}), text="Let me see"),
        says("Done"),
        says("Done"),
        says("Done"),
    )
    async with bench(tmp_path, model, tools=[Echo(), Asks()]) as it:
        it.desk.set_mode("yolo", True)
        it.tell(SendPrompt("go"))
        for _ in range(moment):
            await asyncio.sleep(0)
        it.tell(Interrupt())
        await it.until(TurnEnded)
        await it.idle()
        assert not (tmp_path / "s" / "context.jsonl").exists() or unanswered(it) == []
        before = it.desk.transcript.entries[:]
        assert (await it.turn("go on")).reason == "done"
        assert unanswered(it) == []
        assert it.desk.transcript.entries[: len(before)] == before
    async with bench(tmp_path, model, tools=[Echo(), Asks()]) as again:
        assert [line for line in again.told() if line.startswith("user: go on")] == ["user: go on"]


async def test_notes_about_the_stop_are_not_sent_to_the_model(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(Interrupt())
        await it.until(TurnEnded)
        await it.idle()
        await it.turn("next")
        assert not it.all(EntryAdded)
        assert [message.role for message in it.model.requests[-1].history] == ["user", "assistant", "tool", "user"]
