"""A session whose last turn was killed goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.agent.healing import missing_results
from kimi_tui.context import Context
from kimi_tui.protocol.events import TranscriptReset
from kimi_tui.protocol.messages import FunctionBody, Message, ToolCall
from tests.agent.fakes import Echo, ScriptedModel, bench, message, says


def asking(*ids: str) -> Message:
    calls = [ToolCall(id=each, function=FunctionBody(name="Echo", arguments="{}")) for each in ids]
    return Message(role="assistant", tool_calls=calls)


def result(call_id: str) -> Message:
    return Message(role="tool", content="out", tool_call_id=call_id)


@pytest.mark.parametrize(
    ("history", "missing"),
    [
        ([], []),
        ([message("user", "hi")], []),
        ([message("user", "hi"), asking("a", "b")], ["a", "b"]),
        ([message("user", "hi"), asking("a", "b", "c"), result("b")], ["a", "c"]),
        ([message("user", "hi"), asking("a"), result("a")], []),
        ([message("user", "hi"), asking("a"), message("user", "more")], []),
        ([result("astray")], []),
    ],
)
def test_only_the_newest_answers_calls_are_completed(history: list[Message], missing: list[str]) -> None:
    assert [each.tool_call_id for each in missing_results(history)] == missing


async def test_a_killed_turn_is_completed_once_on_disk(tmp_path: Path) -> None:
    killed = Context(tmp_path / "s" / "context.jsonl")
    await killed.checkpoint(False)
    await killed.append_message([message("user", "go"), asking("a", "b"), result("a")])
    await killed.close()
    async with bench(tmp_path, ScriptedModel(says("ok"), says("ok")), tools=[Echo()]) as it:
        outcomes = [entry.tool.outcome for entry in it.last(TranscriptReset).entries if entry.tool]
        assert outcomes == ["ok", "interrupted"]
        await it.turn("go on")
        await it.turn("and on")
        tools = [line for line in it.told() if line.startswith("tool")]
        assert len(tools) == 2 and "the program ended" in tools[1]
        assert it.told().index(tools[1]) < it.told().index("user: go on")
