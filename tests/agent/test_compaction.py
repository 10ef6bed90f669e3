"""Compaction: what is folded, what is kept, and that nothing changes unless all of it succeeds."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from kimi_tui.agent import CompactionResult, SimpleCompaction
from kimi_tui.agent.gauge import Limits
from kimi_tui.context import estimate_text_tokens
from kimi_tui.hooks import HookDef
from kimi_tui.injections import DynamicInjection, DynamicInjectionProvider, StepView
from kimi_tui.llm.model import ModelFault, TextPiece, ThinkPiece, Usage
from kimi_tui.protocol.commands import Compact, Interrupt, SendPrompt, Undo
from kimi_tui.protocol.events import (
    CompactionEnded,
    CompactionProgressed,
    CompactionStarted,
    ContextSwitched,
    TranscriptReset,
    TurnEnded,
)
from kimi_tui.protocol.messages import FunctionBody, Message, TextPart, ThinkPart, ToolCall
from tests.agent.fakes import Bench, Echo, ScriptedModel, bench, calls, message, quick, says, small


@dataclass
class Cost:
    output: int


def call(call_id: str) -> ToolCall:
    return ToolCall(id=call_id, function=FunctionBody(name="Echo", arguments="{}"))


def result(call_id: str, text: str = "out") -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id)


TALK = [message("user", "one"), message("assistant", "eins"), message("user", "two"), message("assistant", "zwei")]


def test_the_last_messages_are_kept_and_the_rest_becomes_one_request() -> None:
    compact, kept = SimpleCompaction(2).prepare(TALK, custom_instruction="keep the SQL schema")
    assert list(kept) == TALK[2:]
    assert compact is not None and compact.role == "user"
    text = compact.text()
    assert text.index("## Message 1\nRole: user\nContent:\none") < text.index("## Message 2\nRole: assistant")
    assert text.endswith("keep the SQL schema")
    assert "two" not in text.split("---")[0]


@pytest.mark.parametrize(("keep", "talk"), [(2, TALK[:1]), (2, TALK[:2]), (4, TALK), (0, TALK), (2, [])])
def test_too_little_is_not_compacted(keep: int, talk: list[Message]) -> None:
    compact, kept = SimpleCompaction(keep).prepare(talk)
    assert compact is None
    assert list(kept) == talk


def test_thinking_is_not_part_of_the_request() -> None:
    talk = [Message(role="assistant", content=[ThinkPart(think="secret"), TextPart(text="said")]), *TALK[2:]]
    compact, _ = SimpleCompaction(2).prepare(talk)
    assert compact is not None and "secret" not in compact.text() and "said" in compact.text()


@pytest.mark.parametrize("keep", [1, 2, 3, 4, 5])
def test_calls_and_their_results_are_never_separated(keep: int) -> None:
    talk = [
        message("user", "go"),
        Message(role="assistant", tool_calls=[call("a"), call("b"), call("c")]),
        result("a"),
        message("user", "a steer between the results"),
        result("b"),
        message("user", "and another"),
        result("c"),
        Message(role="assistant", content="next", tool_calls=[call("d")]),
        result("d"),
    ]
    _, kept = SimpleCompaction(keep).prepare(talk)
    wanted = {each.id for one in kept for each in one.tool_calls or ()}
    assert wanted == {one.tool_call_id for one in kept if one.role == "tool"}


def test_the_estimate_takes_the_summarys_exact_size_where_it_is_known() -> None:
    messages = [message("user", "x" * 4000), message("assistant", "y" * 400)]
    assert CompactionResult(messages, Cost(7)).estimated_token_count == 7 + estimate_text_tokens(messages[1:])
    assert CompactionResult(messages, None).estimated_token_count == estimate_text_tokens(messages)


def test_the_reserve_is_capped_in_small_windows() -> None:
    limits = Limits(0.85, 50_000)
    assert limits.reserve_in(16_000) == 4_000
    assert not limits.exceeded(11_000, 16_000)
    assert limits.exceeded(12_000, 16_000)
    assert limits.exceeded(170_000, 200_000) and limits.exceeded(150_000, 200_000)
    assert not limits.exceeded(10**9, 0), "an unknown window never compacts"
    assert limits.trigger_in(200_000) == 150_000


async def talked(it: Bench, turns: int = 3) -> None:
    for number in range(turns):
        it.model.replies.append(says(f"answer {number}"))
        await it.turn(f"question {number}")


async def test_the_old_timeline_gives_way_to_summary_and_kept_messages_in_one_switch(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.summaries = [[ThinkPiece("let me think"), *says("They asked three questions.", 40)]]
    async with bench(tmp_path, model) as it:
        await talked(it)
        await it.do(Compact("the numbers"))
        assert [event.outcome for event in it.all(CompactionEnded)] == ["done"]
        told = it.told()
        assert told[0] == "system_prompt: You are a test."
        assert told[1] == "checkpoint 0"
        assert told[2].startswith("user: <system>The earlier conversation") and told[2].endswith(
            "|They asked three questions."
        )
        assert told[3:5] == ["user: question 2", "assistant: answer 2"]
        assert told[5].startswith("usage ") and int(told[5].split()[1]) > 10
        assert len(list(it.folder.glob("context_*.jsonl"))) == 1
        phases = [event.phase for event in it.all(CompactionProgressed)]
        assert list(dict.fromkeys(phases)) == ["hooks", "reading", "summarising", "switching"]
        assert it.last(CompactionStarted).reason == "manual" and it.last(CompactionStarted).focus == "the numbers"
        assert it.model.requests[-1].history[0].text().endswith("the numbers")
        assert not it.model.requests[-1].tools


async def test_the_gauge_shows_an_estimate_at_once_and_an_exact_figure_after_the_next_answer(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.summaries = [says("Summary.", 40)]
    async with bench(tmp_path, model) as it:
        await talked(it)
        await it.do(Compact())
        after = it.last(TranscriptReset).tokens
        assert after.exact > 0 and after.exact_at is None
        await talked(it, 1)
        assert it.desk.tokens().exact_at is not None


async def test_a_compaction_can_be_undone(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.summaries = [says("Summary.", 40)]
    async with bench(tmp_path, model) as it:
        await talked(it)
        before = it.told()
        await it.do(Compact())
        assert it.last(TranscriptReset).undo == "the compaction"
        await it.do(Undo())
        assert it.told() == before


@pytest.mark.parametrize("fault", [ModelFault("auth", "wrong key"), ModelFault("other", "no")])
async def test_a_failed_compaction_leaves_everything_as_it_was(tmp_path: Path, fault: ModelFault) -> None:
    model = ScriptedModel()
    model.summaries = [[TextPiece("half a"), fault]]
    async with bench(tmp_path, model) as it:
        await talked(it)
        before = it.told()
        await it.do(Compact())
        assert it.last(CompactionEnded).outcome == "failed"
        assert it.told() == before and not list(it.folder.glob("context_*"))


async def test_a_cancelled_compaction_leaves_everything_as_it_was(tmp_path: Path) -> None:
    hold, begun = asyncio.Event(), asyncio.Event()
    model = ScriptedModel()
    model.summaries = [[TextPiece("half a"), begun.set, hold]]
    async with bench(tmp_path, model) as it:
        await talked(it)
        before = it.told()
        it.tell(Compact())
        await begun.wait()
        it.tell(Interrupt())
        assert (await it.until(CompactionEnded)).outcome == "cancelled"
        assert it.told() == before and not list(it.folder.glob("context_*"))


async def test_an_empty_summary_changes_nothing(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.summaries = [says("  ", 40)]
    async with bench(tmp_path, model) as it:
        await talked(it)
        before = it.told()
        await it.do(Compact())
        assert it.last(CompactionEnded).outcome == "failed"
        assert it.told() == before


async def test_nothing_to_compact_is_said(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as it:
        await talked(it, 1)
        await it.do(Compact())
        assert it.last(CompactionEnded).outcome == "nothing"


async def test_over_the_limit_a_step_compacts_first_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel(says("answer", 900), says("Going on.", 300), window=1000)
    model.summaries = [says("Summary.", 400)]
    async with bench(tmp_path, model, loop=small()) as it:
        await it.turn("the first question")
        ended = await it.turn("the newest question, word for word")
        assert ended.reason == "done"
        assert it.last(CompactionStarted).reason == "auto"
        assert "user: the newest question, word for word" in it.model.sent()
        assert "user: the first question" not in it.model.sent()


async def test_what_was_asked_last_survives_word_for_word_in_mid_turn(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("Echo", {"id": "a", "text": "1"}), tokens=200),
        calls(("Echo", {"id": "b", "text": "2"}), tokens=300),
        calls(("Echo", {"id": "c", "text": "3"}), tokens=990),
        says("Done.", 400),
        window=1000,
    )
    model.summaries = [says("Summary.", 100)]
    async with bench(tmp_path, model, tools=[Echo()], loop=small()) as it:
        ended = await it.turn("migrate the helpers")
        assert (ended.reason, ended.steps) == ("done", 4)
        assert "user: migrate the helpers" in it.model.sent()
        assert [text for text in it.model.sent() if text.startswith("tool")] == ["tool: 2", "tool: 3"]


async def test_an_overflow_compacts_once_and_tries_once_more(tmp_path: Path) -> None:
    overflow = ModelFault("context_overflow", "maximum context length is 8192 tokens", hint="Use /compact.")
    model = ScriptedModel()
    model.summaries = [says("Summary.", 40)]
    async with bench(tmp_path, model) as it:
        await talked(it)
        model.replies = [[overflow], says("It fits now.")]
        assert (await it.turn("more")).reason == "done"
        assert len(it.all(CompactionStarted)) == 1
        model.summaries = [says("Summary.", 40)] * 3
        model.replies = [[overflow], [overflow], says("never")]
        ended = await it.turn("even more")
        assert (ended.reason, ended.message) == ("failed", "maximum context length is 8192 tokens")
        assert "/compact" not in ended.hint, "that has just been done"
        assert len(it.all(CompactionStarted)) == 2


async def test_a_context_that_cannot_be_made_smaller_ends_the_turn_plainly(tmp_path: Path) -> None:
    model = ScriptedModel(says("answer", 900), window=1000)
    model.summaries = [[TextPiece("still large"), Usage(500, 980)]] * 50
    model.replies += [says("answer", 990) for _ in range(50)]
    async with bench(tmp_path, model, loop=small()) as it:
        await it.turn("first")
        endings = [await it.turn(f"more {number}") for number in range(3)]
        assert endings[0].reason == "failed" and "cannot be made smaller" in endings[0].message
        assert len(it.all(CompactionStarted)) <= 2


async def test_big_tool_outputs_are_shortened_when_there_is_nothing_else_to_fold(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "word " * 3800}), tokens=100), says("Read it.", 900), window=4000)
    async with bench(tmp_path, model, tools=[Echo()], loop=small()) as it:
        ended = await it.turn("read")
        assert ended.reason == "done"
        sent = next(text for text in it.model.sent() if text.startswith("tool"))
        assert "characters left out" in sent and len(sent) < 10_000
        assert "word word" in (it.folder / "context_1.jsonl").read_text()


async def test_a_summary_request_that_is_too_long_is_written_in_parts(tmp_path: Path) -> None:
    model = ScriptedModel(window=6000)
    model.summaries = [says(f"Summary {number}.", 40) for number in range(30)]
    async with bench(tmp_path, model, loop=small()) as it:
        for number in range(12):
            model.replies.append(says(f"answer {number} " + "text " * 800, None))
            await it.turn(f"question {number}")
        await it.do(Compact())
        assert it.last(CompactionEnded).outcome == "done"
        summaries = [request for request in model.requests if "condense" in request.system]
        assert len(summaries) > 1
        assert all(estimate_text_tokens(request.history) < 6000 for request in summaries)
        assert "Summary 0." in summaries[1].history[0].text()


async def test_an_overflowing_summary_request_is_made_smaller_a_few_times(tmp_path: Path) -> None:
    overflow = ModelFault("context_overflow", "too long")
    model = ScriptedModel()
    async with bench(tmp_path, model) as it:
        await talked(it, 6)
        model.summaries = [[overflow], [ModelFault("bad_request", "413", status=413)], *[says("Short.", 10)] * 30]
        await it.do(Compact())
        assert it.last(CompactionEnded).outcome == "done"
        await it.do(Undo())
        model.summaries = [[overflow]] * 50
        await it.do(Compact())
        assert it.last(CompactionEnded).outcome == "failed"
        assert len(model.summaries) > 40


async def test_hooks_and_injections_are_told(tmp_path: Path) -> None:
    class Told(DynamicInjectionProvider):
        compacted = 0

        async def get_injections(self, history: object, view: StepView) -> list[DynamicInjection]:
            return []

        async def on_context_compacted(self) -> None:
            Told.compacted += 1

    hooks = [HookDef("PreCompact", f"cat > {tmp_path}/pre.json"), HookDef("PostCompact", f"cat > {tmp_path}/post.json")]
    model = ScriptedModel()
    model.summaries = [says("Summary.", 40)]
    async with bench(tmp_path, model, hooks=hooks, providers=[Told()]) as it:
        await talked(it)
        await it.do(Compact())
        await it.desk.hooks.finish()
        assert Told.compacted == 1
    pre, post = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("pre", "post"))
    assert (pre["trigger"], post["trigger"]) == ("manual", "manual")
    assert pre["token_count"] == 100 and post["estimated_token_count"] > 0


async def test_a_prompt_sent_meanwhile_waits_and_is_sent_afterwards(tmp_path: Path) -> None:
    hold, begun = asyncio.Event(), asyncio.Event()
    model = ScriptedModel()
    model.summaries = [[begun.set, hold, *says("Summary.", 40)]]
    async with bench(tmp_path, model) as it:
        await talked(it)
        model.replies = [says("later")]
        it.tell(Compact())
        await begun.wait()
        it.tell(SendPrompt("typed meanwhile"))
        hold.set()
        await it.until(TurnEnded, 4)
        assert it.told()[-2:] == ["assistant: later", "usage 100"]
        assert len(it.all(ContextSwitched)) == 1


async def test_after_a_restart_the_summary_tells_of_the_compaction(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.summaries = [says("Summary.", 40)]
    async with bench(tmp_path, model, loop=quick()) as it:
        await talked(it)
        await it.do(Compact())
        before = it.desk.transcript.entries
        assert before[0].kind == "summary" and before[0].switch is not None
    async with bench(tmp_path, model) as again:
        assert list((await again.until(TranscriptReset)).entries) == before
