from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.llm.model import CallPiece, Finish, ModelFault, Piece, Request, TextPiece, ThinkPiece, ToolSpec, Usage
from kimi_tui.llm.replay_model import ReplayModel
from kimi_tui.protocol.messages import Message

TOOL = ToolSpec("Shell", "runs", {"type": "object"})


def script(folder: Path, *replies: dict[str, Any], **keys: Any) -> ReplayModel:
    path = folder / "script.json"
    path.write_text(json.dumps({"replies": replies, **keys}))
    return ReplayModel(path)


async def ask(model: ReplayModel, text: str = "hi", tools: tuple[ToolSpec, ...] = (TOOL,)) -> list[Piece]:
    return [piece async for piece in model.stream(Request("s", [Message(role="user", content=text)], tools))]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


async def test_a_reply_is_streamed_in_pieces_with_its_usage(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 3}
    pieces = await ask(script(tmp_path, {"think": "hm", "text": "forty-two", "chunk": 5, "usage": usage}))
    assert pieces == [ThinkPiece("hm"), TextPiece("forty"), TextPiece("-two"), Usage(20, 3), Finish("stop")]


async def test_usage_is_estimated_when_the_script_gives_none(tmp_path: Path) -> None:
    [usage] = [piece for piece in await ask(script(tmp_path, {"text": "hello"})) if isinstance(piece, Usage)]
    assert usage.input > 0
    assert not usage.exact


async def test_tools_are_called(tmp_path: Path) -> None:
    pieces = await ask(script(tmp_path, {"tools": [{"name": "Shell", "args": {"command": "ls"}}]}))
    arguments = "".join(piece.arguments for piece in pieces if isinstance(piece, CallPiece))
    assert json.loads(arguments) == {"command": "ls"}
    assert pieces[-1] == Finish("tool_calls")


async def test_a_reply_waits_for_the_request_that_it_is_for(tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "summary", "when": "compaction"}, {"text": "b", "when": "B"}, {"text": "a"})
    assert text_of(await ask(model, "A")) == "a"
    assert text_of(await ask(model, "summarise", tools=())) == "summary"
    assert text_of(await ask(model, "B?")) == "b"
    assert text_of(await ask(model)) == "(the script has ended)"


async def test_a_script_can_loop_or_repeat_its_last_reply(tmp_path: Path) -> None:
    looping = script(tmp_path, {"text": "1"}, {"text": "2"}, loop=True)
    assert [text_of(await ask(looping)) for _ in range(3)] == ["1", "2", "1"]
    repeating = script(tmp_path, {"text": "1"}, {"text": "2"}, repeat_last_reply=True)
    assert [text_of(await ask(repeating)) for _ in range(3)] == ["1", "2", "2"]


async def test_faults_are_played(tmp_path: Path) -> None:
    model = script(tmp_path, {"status": 429, "retry_after": 2}, {"text": "half an answer", "drop_after": 1})
    with pytest.raises(ModelFault) as fault:
        await ask(model)
    assert (fault.value.kind, fault.value.retry_after) == ("rate_limit", 2)
    with pytest.raises(ModelFault) as fault:
        await ask(model)
    assert fault.value.kind == "connection"


@pytest.mark.parametrize("content", [None, "{", "[]", '{"replies": 1}'])
async def test_a_script_that_cannot_be_played_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "script.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelFault, match=r"script\.json") as fault:
        await ReplayModel(path).prepare(lambda *_: None)
    assert fault.value.kind == "not_ready"
