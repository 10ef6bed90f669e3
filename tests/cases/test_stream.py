"""What providers send: cut streams, calls in pieces, faults with a wait, arguments of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.protocol.commands import Interrupt, SendPrompt
from kimi_tui.protocol.events import RetryScheduled, StreamReset, TextDelta, ToolCallFinished, TurnEnded
from tests.cases.house import house

GO_ON = {"text": "enough"}


def deltas(*calls: dict[str, Any], finish: str | None = "tool_calls") -> dict[str, Any]:
    """A reply whose deltas are sent as they are."""
    return {"chunks": [{"tool_calls": [call]} for call in calls], "finish_reason": finish}


async def test_a_stream_that_breaks_is_shown_and_stored_once(tmp_path: Path) -> None:
    replies = [{"text": "The river is 12 km long.", "drop_after": 2}, {"text": "The river is 12 km long."}]
    async with house(tmp_path, replies) as it:
        await it.turn("how long?")
        assert it.spoken("assistant") == ["The river is 12 km long."]
        assert len(it.seen(RetryScheduled)) == 1
        kinds = [type(event) for event in it.events if isinstance(event, TextDelta | StreamReset)]
        reset = kinds.index(StreamReset)
        assert TextDelta in kinds[:reset] and TextDelta in kinds[reset:]


async def test_calls_come_together_however_their_ids_are_sent(tmp_path: Path) -> None:
    in_pieces = deltas(
        {"index": 0, "id": "call_7", "function": {"name": "Shell", "arguments": ""}},
        {"index": 0, "id": "", "function": {"arguments": '{"command": '}},
        {"index": 0, "id": None, "function": {"name": None, "arguments": '"echo pieces"}'}},
    )
    without_id = deltas(
        {"index": 0, "function": {"name": "Shell", "arguments": '{"command":"echo nameless"}'}}, finish="stop"
    )
    async with house(tmp_path, [in_pieces, without_id, GO_ON]) as it:
        assert (await it.turn("go")).steps == 3
        assert [event.tool.output.strip() for event in it.seen(ToolCallFinished)] == ["pieces", "nameless"]
        made = [call["id"] for record in it.records() for call in record.get("tool_calls", ())]
        assert made[0] == "call_7" and made[1] and len(set(made)) == 2


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("Think", "", "thought"),
        ("ReadFile", None, "path"),
        ("NoTool", '{"a": 1}', "There is no tool"),
        ("Shell", "[1]", "one JSON object"),
        ("Shell", '"ls"', "one JSON object"),
        ("Shell", '{"command": "ls", "command": "pwd"}', "twice"),
        ("Shell", '{"command": "echo a\tb"}', "control character"),
        ("Shell", '{"command": "echo', "JSON"),
        ("ReadFile", '{"path": 5}', "path"),
    ],
)
async def test_arguments_of_any_kind_get_one_result_that_says_what_is_wrong(
    name: str, arguments: str | None, told: str, tmp_path: Path
) -> None:
    odd = deltas({"index": 0, "id": "n", "function": {"name": name, "arguments": arguments}})
    async with house(tmp_path, [odd, GO_ON]) as it:
        assert (await it.turn("go")).reason == "done"
        assert len(it.spoken("tool")) == 1 and told in it.spoken("tool")[0]


async def test_a_long_wait_is_told_and_not_served(tmp_path: Path) -> None:
    body = {"error": {"message": "organisation token limit reached, current: 1500001, limit: 1500000"}}
    reply = {"error": {"status": 429, "headers": {"retry-after": "1200"}, "body": body}}
    async with house(tmp_path, [reply, GO_ON]) as it:
        ended = await it.turn("hi")
        assert ended.reason == "failed" and ended.seconds < 1200
        assert "token limit reached" in ended.message and "20 min" in ended.hint
        assert it.spoken("user") == ["hi"]


async def test_escape_ends_a_wait_and_the_prompt_stays(tmp_path: Path) -> None:
    slow = {"error": {"status": 429, "headers": {"retry-after": "30"}, "body": {"error": {"message": "overloaded"}}}}
    async with house(tmp_path, [slow, GO_ON]) as it:
        it.tell(SendPrompt("keep me"))
        waiting = await it.until(RetryScheduled)
        assert "overloaded" in waiting.reason and waiting.wait >= 30
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).seconds < waiting.wait
        await it.idle()
        assert (await it.turn("and now?")).reason == "done"
        assert "keep me" in it.sent()


async def test_equal_calls_of_a_step_share_one_result_and_each_has_its_own_record(tmp_path: Path) -> None:
    tools = [
        {"name": "ReadFile", "args": {"path": path}, "id": f"r{n}"} for n, path in enumerate(["a", "a", "b", "b", "a"])
    ]
    async with house(tmp_path, [{"tools": tools}, GO_ON]) as it:
        (it.work / "a").write_text("first\n")
        await it.turn("read")
        results = {
            record["tool_call_id"]: json.dumps(record["content"]) for record in it.records() if record["role"] == "tool"
        }
        assert list(results) == ["r0", "r1", "r2", "r3", "r4"]
        assert results["r0"] == results["r1"] == results["r4"] and "first" in results["r0"]
        assert results["r2"] == results["r3"] and "no file b" in results["r2"]
