"""Folding: what is kept is well formed, what was asked survives, and it never goes on for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.protocol.commands import Compact, Interrupt, SetMode
from kimi_tui.protocol.events import CompactionEnded, CompactionProgressed, Noticed, TokensChanged, TranscriptReset
from tests.cases.house import Record, assistant, calls, checkpoint, house, result, usage, user

BATCH = tuple((f"b{number}", "ReadFile", {"path": f"{number}.py"}) for number in range(4))
TALK: list[Record] = [
    {"role": "_system_prompt", "content": "Be brief."},
    checkpoint(0),
    user("hello"),
    assistant("hi"),
    user("list them"),
    assistant("four"),
    usage(900),
    checkpoint(1),
    user("read all four"),
    assistant("Reading.", *BATCH),
    *(result(call[0], f"text of {call[0]}") for call in BATCH),
    assistant("One more.", ("last", "Shell", {"command": "wc -l 0.py"})),
]


@pytest.mark.parametrize("keep", [1, 2, 3, 5])
async def test_every_kept_call_has_its_result_on_disk_and_the_other_way_round(
    keep: int, tmp_path: Path, home: Path
) -> None:
    (home / "config.toml").write_text(f"[compaction]\nmax_preserved_messages = {keep}\n")
    async with house(tmp_path, [{"text": "A summary."}, {"text": "ok"}], session=TALK) as it:
        await it.do(Compact())
        records = it.records()
        asked = [call["id"] for record in records for call in record.get("tool_calls", ())]
        assert asked == [record["tool_call_id"] for record in records if record["role"] == "tool"]
        assert asked[-1] == "last" and len(asked) in (1, 5)
        assert (await it.turn("go on")).reason == "done"


async def test_a_context_that_does_not_get_smaller_ends_in_one_plain_fault(tmp_path: Path) -> None:
    story = [checkpoint(0), user("x " * 9000), assistant("y " * 10_500), usage(15_000)]
    script = {"default": {"text": "Still long. " * 1500, "usage": {"prompt_tokens": 15_000, "completion_tokens": 4500}}}
    async with house(tmp_path, [], session=story, script=script, context_window=16_000) as it:
        ends = [await it.turn("go on") for _ in range(4)]
        assert ends[-1].reason == "failed" and "cannot be made smaller" in ends[-1].message and ends[-1].hint
        assert sum(not offered for offered in it.model.offered) <= 4
        assert len(it.model.requests) < 12


async def test_a_summary_that_is_too_long_to_ask_for_leaves_all_as_it_was(tmp_path: Path) -> None:
    page = "<html><head><title>413 Too Large</title></head><body>nginx</body></html>"
    refuses = {"default": {"error": {"status": 413, "body": page}}}
    async with house(tmp_path, [], session=[*TALK, result("last", "12")], script=refuses) as it:
        before = it.records()
        said = await it.do(Compact())
        told = [event.text for event in said if isinstance(event, Noticed)]
        assert len(told) == 1 and "larger window" in told[0] and "/compact" not in told[0] and "<" not in told[0]
        assert it.records() == before and len(it.model.requests) <= 6


async def test_what_was_asked_last_and_the_modes_survive_a_compaction_in_mid_turn(tmp_path: Path) -> None:
    script = {"default": {"text": "Summary: half of it is done.", "when": "compaction"}}
    replies = [
        {"text": "Summary: half of it is done.", "when": "compaction"},
        calls(("Shell", {"command": "echo step"})),
        {"text": "All done."},
    ]
    steps = [
        record
        for number in range(6)
        for record in (assistant("s", (f"g{number}", "Shell", "{}")), result(f"g{number}", "z" * 4000))
    ]
    session = [checkpoint(0), user("RULE: leave legacy/ alone"), *steps, usage(13_000)]
    async with house(tmp_path, replies, session=session, script=script, context_window=14_000) as it:
        await it.do(SetMode("plan", True))
        assert (await it.turn("carry on with the <rest>, please")).reason == "done"
        assert [event.outcome for event in it.seen(CompactionEnded)] == ["done"]
        assert "carry on with the <rest>, please" in it.sent() and "half of it is done" in it.sent()
        assert "Plan mode is on" in it.sent()
        assert it.spoken("assistant")[-1] == "All done."


async def test_escape_ends_a_slow_summary_at_once_and_changes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, [{"text": "slow " * 20_000, "delay_ms": 50}], session=TALK) as it:
        before = it.records()
        it.tell(Compact())
        while not any(event.phase == "summarising" and event.tokens for event in it.seen(CompactionProgressed)):
            await asyncio.sleep(0.01)
        it.tell(Interrupt())
        await it.until(CompactionEnded)
        await it.idle()
        assert it.seen(CompactionEnded)[-1].outcome == "cancelled"
        assert it.records() == before


async def test_the_gauge_says_at_once_what_is_left_and_is_exact_after_the_next_answer(tmp_path: Path) -> None:
    replies = [{"text": "A summary."}, {"text": "ok", "usage": {"prompt_tokens": 777, "completion_tokens": 3}}]
    async with house(tmp_path, replies, session=[*TALK, result("last", "12"), usage(30_000)]) as it:
        await it.do(Compact())
        estimate = it.seen(TranscriptReset)[-1].tokens
        assert 0 < estimate.exact + estimate.pending < 10_000 and estimate.exact_at is None
        await it.turn("next")
        exact = it.seen(TokensChanged)[-1].tokens
        assert (exact.exact, exact.pending) == (780, 0) and exact.exact_at


@pytest.mark.parametrize("window", [1_000_000, None])
async def test_a_count_far_over_the_window_compacts_once_and_is_sane_again(window: int | None, tmp_path: Path) -> None:
    session = [*TALK, result("last", "12"), usage(4_500_000)]
    replies = [{"text": "A summary.", "when": "compaction"}, {"text": "ok"}]
    async with house(tmp_path, replies, session=session, context_window=window) as it:
        assert (await it.turn("hello")).reason == "done"
        assert [event.outcome for event in it.seen(CompactionEnded)] == ["done"]
        tokens = it.seen(TokensChanged)[-1].tokens
        assert tokens.exact + tokens.pending < tokens.window
