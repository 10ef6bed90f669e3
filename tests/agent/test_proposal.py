"""Compaction with the user's word: previews, pins, warnings, and single results that are dropped."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from kimi_tui.agent.compaction.nearness import Nearness
from kimi_tui.agent.compaction.pins import identity, kept_before
from kimi_tui.agent.gauge import Limits
from kimi_tui.context import Context
from kimi_tui.protocol.commands import (
    AnswerCompaction,
    Compact,
    DropResult,
    Interrupt,
    MeasureContext,
    PinEntry,
    SendPrompt,
    SetMode,
    SnoozeCompaction,
    Undo,
)
from kimi_tui.protocol.events import (
    CompactionEnded,
    CompactionNear,
    CompactionProposed,
    ContextMeasured,
    EntriesChanged,
    Noticed,
    TranscriptReset,
    TurnEnded,
)
from kimi_tui.protocol.messages import FunctionBody, Message, ToolCall
from kimi_tui.protocol.views import Tokens
from tests.agent.fakes import Bench, Echo, ScriptedModel, Wait, bench, calls, message, quick, says


async def talked(it: Bench, turns: int = 3) -> None:
    for number in range(turns):
        it.model.replies.append(says(f"answer {number}"))
        await it.turn(f"question {number}")


def summarising(*texts: str) -> ScriptedModel:
    model = ScriptedModel()
    model.summaries = [says(text, 40) for text in texts]
    return model


# --- the preview ---


async def test_nobody_is_asked_about_the_summary_of_a_subagent(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising(), loop=quick(preview=True)) as it:
        assert it.desk.reviews
        assert not replace(it.desk, parent=it.desk).reviews


async def test_a_proposal_shows_what_goes_and_what_stays_and_changes_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising("They talked."), loop=quick(preview=True)) as it:
        await talked(it)
        before = (it.folder / "context.jsonl").read_bytes()
        it.tell(Compact())
        proposal = await it.until(CompactionProposed)
        assert proposal.summary == "They talked."
        assert [entry.text for entry in proposal.replaced] == ["question 0", "answer 0", "question 1", "answer 1"]
        assert [entry.text for entry in proposal.kept] == ["question 2", "answer 2"]
        assert proposal.tokens_before == 100 and proposal.tokens_after > 0
        assert (it.folder / "context.jsonl").read_bytes() == before
        await it.do(AnswerCompaction("cancel"))
        await it.idle()
        assert it.last(CompactionEnded).outcome == "cancelled"
        assert (it.folder / "context.jsonl").read_bytes() == before


async def test_the_edited_text_goes_in(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising("They talked."), loop=quick(preview=True)) as it:
        await talked(it)
        it.tell(Compact())
        await it.until(CompactionProposed)
        await it.do(AnswerCompaction("accept", "They talked about [numbers]."))
        await it.until(CompactionEnded)
        assert it.last(CompactionEnded).outcome == "done"
        assert it.told()[2].endswith("|They talked about [numbers].")
        assert it.told()[3:5] == ["user: question 2", "assistant: answer 2"]


async def test_it_is_asked_again_with_another_focus(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising("First.", "Second."), loop=quick(preview=True)) as it:
        await talked(it)
        it.tell(Compact())
        await it.until(CompactionProposed)
        it.tell(AnswerCompaction("redo", focus="the numbers"))
        again = await it.until(CompactionProposed, 2)
        assert (again.summary, again.focus) == ("Second.", "the numbers")
        assert it.model.requests[-1].history[0].text().endswith("the numbers")
        await it.do(AnswerCompaction("accept"))
        await it.until(CompactionEnded)
        assert it.told()[2].endswith("|Second.")


async def test_esc_takes_the_proposal_back(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising("They talked."), loop=quick(preview=True)) as it:
        await talked(it)
        it.tell(Compact())
        await it.until(CompactionProposed)
        await it.do(Interrupt())
        assert it.last(CompactionEnded).outcome == "cancelled"
        await it.do(AnswerCompaction("accept"))
        assert "no summary waits" in it.last(Noticed).text
        assert len(list(it.folder.glob("context_*.jsonl"))) == 0


async def test_who_is_away_is_not_asked(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising("They talked."), loop=quick(preview=True)) as it:
        await talked(it)
        await it.do(SetMode("afk", True))
        await it.do(Compact())
        assert not it.all(CompactionProposed) and it.last(CompactionEnded).outcome == "done"


async def test_a_declined_automatic_compaction_lets_the_turn_go_on_and_is_not_asked_again_at_once(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(says("a", 300), says("b", 750), window=1000)
    model.summaries = [says("S", 10)]
    loop = quick(preview=True, limits=Limits(0.7, 100))
    async with bench(tmp_path, model, loop=loop) as it:
        await it.turn("one")
        await it.turn("two")
        model.replies += [says("c", 760), says("d", 765)]
        it.tell(SendPrompt("three"))
        await it.until(CompactionProposed)
        it.tell(AnswerCompaction("cancel"))
        ended = await it.until(TurnEnded, 3)
        assert ended.reason == "done" and model.sent()[-1] == "user: three"
        await it.idle()
        await it.turn("four")
        assert len(it.all(CompactionProposed)) == 1


async def test_compact_in_a_running_turn_happens_before_its_next_step(tmp_path: Path) -> None:
    wait = Wait()
    model = ScriptedModel()
    async with bench(tmp_path, model, tools=[wait]) as it:
        await talked(it)
        model.summaries = [says("They talked.", 40)]
        model.replies += [calls(("Wait", {})), says("done")]
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(Compact("the numbers"))
        await it.until(Noticed)
        wait.go.set()
        ended = await it.until(TurnEnded, 4)
        assert ended.reason == "done"
        assert it.last(CompactionEnded).outcome == "done"
        assert any(text.endswith("They talked.") for text in model.sent())
        assert "user: go" in model.sent()


async def test_compact_in_the_last_step_of_a_turn_happens_right_after_it(tmp_path: Path) -> None:
    go = asyncio.Event()
    model = ScriptedModel()
    async with bench(tmp_path, model) as it:
        await talked(it)
        model.summaries = [says("They talked.", 40)]
        model.replies.append([go, *says("done")])
        it.tell(SendPrompt("go"), Compact())
        await it.until(Noticed)
        go.set()
        assert (await it.until(CompactionEnded)).outcome == "done"


# --- pins ---


async def test_a_pinned_message_survives_compactions_and_restarts_word_for_word(tmp_path: Path) -> None:
    words = "never touch [bold]main[/]; 永远不要"
    model = ScriptedModel(says("understood"))
    model.summaries = [says("One.", 40), says("Two.", 40)]
    async with bench(tmp_path, model) as it:
        await it.turn(words)
        await talked(it)
        await it.do(PinEntry(0))
        assert it.last(EntriesChanged).start == 0 and it.last(EntriesChanged).entries[0].pinned
        await it.do(Compact())
        await talked(it)
        await it.do(Compact())
        assert it.told()[2].endswith("|Two.") and it.told()[3] == f"user: {words}"
        entries = it.last(TranscriptReset).entries
        assert [entry.text for entry in entries if entry.pinned] == [words]
        saved = it.desk.state.pins
    context = Context(it.folder / "context.jsonl")
    await context.restore()
    assert identity(context.history[1]) in saved
    await context.close()


async def test_an_unpinned_message_is_folded_again(tmp_path: Path) -> None:
    async with bench(tmp_path, summarising("One.")) as it:
        await talked(it)
        await it.do(PinEntry(1))
        await it.do(PinEntry(1, on=False))
        await it.do(Compact())
        assert "assistant: answer 0" not in it.told()


async def test_a_pinned_call_keeps_its_results(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("Echo", {"text": "x" * 50, "id": "a"}), ("Echo", {"text": "y", "id": "b"})), says("ok")
    )
    model.summaries = [says("One.", 40)]
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("go")
        await talked(it)
        await it.do(PinEntry(2))
        await it.do(Compact())
        told = it.told()
        assert told[3:6] == ["assistant:  [Echo,Echo]", f"tool: {'x' * 50}", "tool: y"]


async def test_a_note_cannot_be_pinned(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as it:
        await it.do(PinEntry(7))
        assert "cannot be pinned" in it.last(Noticed).text


def test_calls_and_results_before_the_cut_stay_together() -> None:
    asked = Message(role="assistant", tool_calls=[ToolCall(id="a", function=FunctionBody(name="Echo"))])
    answer = Message(role="tool", content="out", tool_call_id="a")
    talk = [message("user", "go"), asked, answer, message("assistant", "ok"), message("user", "on")]
    assert kept_before(talk, 4, {2}) == [1, 2]
    assert kept_before(talk, 4, {0, 3}) == [0, 3]
    assert kept_before(talk, 2, {4}) == []


# --- the warning ---


def gauge(total: int) -> Tokens:
    return Tokens(exact=total, window=1000, trigger=850)


def test_a_warning_is_said_once_and_taken_back() -> None:
    nearness = Nearness()
    said = [nearness.look(gauge(total), 700) for total in (100, 710, 720, 800, 300)]
    assert said == [None, CompactionNear(710, 850), None, None, CompactionNear(300, 0)]


def test_a_warning_that_was_put_off_comes_again_when_the_context_has_grown() -> None:
    nearness = Nearness()
    nearness.look(gauge(710), 700)
    assert nearness.snooze(gauge(710)) == CompactionNear(710, 0)
    assert nearness.look(gauge(740), 700) is None
    assert nearness.look(gauge(765), 700) == CompactionNear(765, 850)


async def test_the_screen_hears_that_a_compaction_is_near_and_that_it_is_over(tmp_path: Path) -> None:
    model = ScriptedModel(says("a", 100), says("b", 650), window=1000)
    model.summaries = [says("S", 10)]
    async with bench(tmp_path, model, loop=quick(limits=Limits(0.7, 100))) as it:
        await it.turn("one")
        assert not it.all(CompactionNear)
        await it.turn("two")
        assert it.last(CompactionNear) == CompactionNear(650, 700)
        await it.do(SnoozeCompaction())
        assert it.last(CompactionNear).trigger == 0


# --- dropping a result ---


async def test_a_dropped_result_leaves_a_note_its_call_and_a_way_back(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "x" * 4000, "id": "big"}), tokens=1500), says("ok", 1600))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("go")
        before, path = it.told(), it.folder / "context.jsonl"
        lines, total = path.read_bytes().splitlines(), it.desk.total
        await it.do(MeasureContext())
        results = next(share for share in it.last(ContextMeasured).shares if share.category == "tool results")
        (entry,) = results.entries
        assert entry is not None
        await it.do(DropResult(entry))
        after = it.told()
        assert [one.split(":")[0] for one in after[:-1]] == [one.split(":")[0] for one in before]
        changed = [number for number, (one, two) in enumerate(zip(before, after, strict=False)) if one != two]
        assert len(changed) == 1 and "4000 characters" in after[changed[0]]
        now = path.read_bytes().splitlines()
        assert [one for index, one in enumerate(now[:-1]) if index != changed[0]] == [
            one for index, one in enumerate(lines) if index != changed[0]
        ]
        assert it.desk.total < total - 500 and it.desk.tokens().exact_at is None
        await it.do(MeasureContext())
        measured = it.last(ContextMeasured)
        assert sum(share.tokens for share in measured.shares) == measured.tokens.total == it.desk.total
        again = next(share for share in measured.shares if share.category == "tool results")
        assert again.entries == (None,)
        await it.do(DropResult(entry))
        assert "dropped already" in it.last(Noticed).text
        await it.do(Undo())
        assert path.read_bytes().splitlines() == lines and it.desk.total == total


async def test_a_session_goes_on_after_a_drop_and_is_read_back_the_same(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "x" * 4000, "id": "big"})), says("ok"))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("go")
        await it.do(DropResult(1))
        await talked(it, 1)
        texts = [each.text() for each in it.desk.context.history]
        marks = [mark.id for mark in it.desk.context.checkpoints]
    context = Context(it.folder / "context.jsonl")
    await context.restore()
    assert [each.text() for each in context.history] == texts
    assert [mark.id for mark in context.checkpoints] == marks
    await context.close()


async def test_what_is_no_result_cannot_be_dropped(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as it:
        await talked(it, 1)
        for index in (0, 1, 99, -1):
            await it.do(DropResult(index))
            assert "no result" in it.last(Noticed).text
