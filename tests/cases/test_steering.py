"""What is said while a turn runs: once, in order, never inside a call and its result."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kimi_tui.protocol.commands import Compact, Interrupt, SendPrompt, Steer
from kimi_tui.protocol.events import ApprovalRequested, Noticed, PromptReturned, TextDelta, ToolCallStarted, TurnEnded
from tests.cases.house import calls, house


async def test_a_line_sent_at_any_moment_around_the_end_of_a_turn_is_sent_once(tmp_path: Path) -> None:
    rounds = 30
    replies = [reply for _ in range(rounds) for reply in ({"text": "All done.", "chunk": 3}, {"text": "B too."})]
    async with house(tmp_path, replies) as it:
        for number in range(rounds):
            before = len(it.events)
            it.tell(SendPrompt(f"do A {number}"))
            await it.until(TextDelta, before)
            for _ in range(number * 2):
                await asyncio.sleep(0)
            it.tell(Steer(f"also B {number}"))
            await it.idle()
        assert it.spoken("user") == [text for n in range(rounds) for text in (f"do A {n}", f"also B {n}")]
        assert it.spoken("assistant") == ["All done.", "B too."] * rounds


async def test_five_lines_during_one_call_come_after_its_result_in_order(tmp_path: Path) -> None:
    async with house(
        tmp_path, [calls(("Shell", {"command": "until [ -e go ]; do sleep 0.01; done"})), {"text": "ok"}]
    ) as it:
        it.tell(SendPrompt("start"))
        await it.until(ToolCallStarted)
        it.tell(*(Steer(f"line {number}") for number in range(5)))
        (it.work / "go").touch()
        await it.until(TurnEnded)
        await it.idle()
        roles = [record["role"] for record in it.records() if record["role"] in ("assistant", "tool")]
        assert roles == ["assistant", "tool", "assistant"]
        assert it.spoken("user") == ["start", *(f"line {number}" for number in range(5))]
        assert it.sent().index("tool ") < it.sent().index("line 0")


async def test_what_waits_comes_back_when_the_turn_is_stopped_or_fails(tmp_path: Path) -> None:
    broken = {"error": {"status": 401, "body": {"error": {"message": "no"}}}, "hang": 0.2}
    replies = [calls(("WriteFile", {"path": "a.txt", "content": "a"})), broken]
    async with house(tmp_path, replies, yolo=False) as it:
        it.tell(SendPrompt("write"))
        await it.until(ApprovalRequested)
        it.tell(Compact(), Steer("1"), Steer("你好"))
        await it.until(Noticed)
        assert not (it.work / "a.txt").exists(), "nothing typed answers the question"
        it.tell(Interrupt())
        await it.until(TurnEnded)
        await it.idle()
        before = len(it.events)
        it.tell(SendPrompt("now fail"), Steer("never mind"))
        assert (await it.until(TurnEnded, before)).reason == "failed"
        await it.idle()
        returned = [event.text for event in it.seen(PromptReturned)]
        assert returned[0] == "1\n\n你好"
        said = "\n".join(it.spoken("user"))
        assert ("never mind" in said) is ("never mind" not in "".join(returned)), "sent or given back, never both"
