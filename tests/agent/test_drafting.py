"""A note for the earlier point, drafted by the model: shown as it grows, paid for, and nowhere stored."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.llm.model import ModelFault, TextPiece, Usage
from kimi_tui.protocol.commands import DraftNote, RevertTo, SendPrompt, StopDraft
from kimi_tui.protocol.events import NoteDrafted, TurnEnded
from tests.agent.fakes import Bench, Echo, ScriptedModel, Wait, bench, calls, message, says


async def last_word(it: Bench, number: int = 0) -> NoteDrafted:
    """How the draft ended."""
    async with asyncio.timeout(60):
        while not (found := [each for each in drafts(it, number) if each.state != "writing"]):
            await asyncio.sleep(0)
    return found[0]


def drafts(it: Bench, number: int = 0) -> list[NoteDrafted]:
    return [event for event in it.all(NoteDrafted) if event.number == number]


def two_turns() -> ScriptedModel:
    return ScriptedModel(says("eins"), calls(("Echo", {"text": "the port is 8091"})), says("zwei"))


async def test_the_model_writes_about_what_would_be_taken_back_and_nothing_of_it_is_stored(tmp_path: Path) -> None:
    model = two_turns()
    model.replies.append(says("The port is 8091.", 60))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("one")
        await it.turn("two")
        before, used = it.told(), it.desk.used
        await it.do(DraftNote(2, begun="do not guess", number=7))
        assert await last_word(it, 7) == NoteDrafted(7, "done", "The port is 8091.")
        assert [event.text for event in drafts(it, 7)][:2] == ["The port", "The port is 8091."]
        asked = model.requests[-1]
        assert not asked.tools and len(asked.history) == 1
        text = asked.history[0].text()
        assert "two" in text and "the port is 8091" in text and "do not guess" in text and "eins" not in text
        assert (it.told(), it.desk.used - used) == (before, 60)
        await it.do(RevertTo(2, note="The port is 8091."))
        assert it.told()[-1].endswith("The port is 8091.")


async def test_a_model_for_summaries_writes_the_note_too(tmp_path: Path) -> None:
    other = ScriptedModel(says("from the other"))
    async with bench(tmp_path, ScriptedModel(says("eins"))) as it:
        await it.turn("one")
        it.desk.summariser = other
        await it.do(DraftNote(0))
        assert (await last_word(it)).text == "from the other"


async def test_stopping_a_draft_says_so_and_a_new_one_ends_the_one_before(tmp_path: Path) -> None:
    never = asyncio.Event()
    hangs = [TextPiece("half"), never]
    async with bench(tmp_path, ScriptedModel(says("eins"), hangs, hangs, says("whole"))) as it:
        await it.turn("one")
        it.tell(DraftNote(0, number=1))
        await it.until(NoteDrafted)
        it.tell(DraftNote(0, number=2))
        assert (await last_word(it, 1)).state == "stopped"
        await it.until(NoteDrafted, 3)
        it.tell(StopDraft())
        assert (await last_word(it, 2)).state == "stopped"
        await it.do(DraftNote(0, number=3))
        assert (await last_word(it, 3)).text == "whole"
        await it.do(StopDraft())
        assert len(drafts(it, 3)) == 3


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ([ModelFault("auth", "The key is wrong.", hint="Set another.")], "The key is wrong. Set another."),
        ([TextPiece("  "), Usage(5, 1)], "The model wrote nothing. Try again, or write the note yourself."),
    ],
)
async def test_a_draft_that_fails_says_why(tmp_path: Path, reply: list[ModelFault | TextPiece], said: str) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), reply)) as it:
        await it.turn("one")
        before = it.told()
        await it.do(DraftNote(0))
        assert await last_word(it) == NoteDrafted(0, "failed", message=said)
        assert it.told() == before


async def test_there_must_be_a_point_to_go_to_and_something_to_write_about(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"))) as it:
        await it.turn("one")
        await it.do(DraftNote(9, number=1))
        assert "checkpoint 9" in (await last_word(it, 1)).message
        await it.do(RevertTo(0))
        await it.do(DraftNote(None, "context_1.jsonl", number=2))
        assert "nothing would be taken back" in (await last_word(it, 2)).message


async def test_a_draft_about_more_than_the_model_can_read_is_written_in_parts(tmp_path: Path) -> None:
    model = ScriptedModel(says("eins"), window=6000)
    model.replies += [says(f"part {number}", 20) for number in range(1, 9)]
    async with bench(tmp_path, model) as it:
        await it.turn("one")
        await it.desk.context.append_message([message("user", "word " * 95)] * 80)
        used, asked = it.desk.used, len(model.requests)
        await it.do(DraftNote(0))
        ended = await last_word(it)
        made = model.requests[asked:]
        assert ended.text == f"part {len(made)}"
        assert len(made) > 1 and "part 1" in made[1].history[0].text()
        assert it.desk.used - used == 20 * len(made)


async def test_going_over_to_a_rotation_the_note_is_about_what_only_the_present_has(tmp_path: Path) -> None:
    model = ScriptedModel(says("eins"), says("zwei"), says("drei"), says("note"))
    async with bench(tmp_path, model) as it:
        await it.turn("one")
        await it.turn("two")
        await it.do(RevertTo(2))
        await it.turn("three")
        await it.do(DraftNote(None, "context_1.jsonl"))
        assert (await last_word(it)).text == "note"
        text = model.requests[-1].history[0].text()
        assert "three" in text and "two" not in text and "one" not in text.split("---")[0]
        await it.do(RevertTo(None, "context_1.jsonl", note="note"))
        assert it.told()[-2:][0] == "usage 100" and it.told()[-1].endswith("note")
        assert it.desk.total == it.desk.context.token_count_with_pending > 100


async def test_a_draft_does_not_disturb_the_turn_that_runs(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("note"), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(DraftNote(0))
        assert (await last_word(it)).text == "note"
        wait.go.set()
        assert (await it.until(TurnEnded)).reason == "done"
