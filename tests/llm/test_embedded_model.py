from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kimi_tui.llm import weights
from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.embedded_model import EmbeddedModel
from kimi_tui.llm.model import ModelFault, Request, TextPiece, Usage
from kimi_tui.llm.provider import without_tools
from kimi_tui.protocol.messages import Message

WEIGHTS = os.environ.get("KIMI_TUI_TEST_DATA", "")
"""A data folder with weights in it: the tests with a real model run there."""

HI = Request("Be brief.", (Message(role="user", content="Say hi."),))


@pytest.fixture
async def model(tmp_path: Path) -> AsyncIterator[EmbeddedModel]:
    made = EmbeddedModel(ModelChoice("local-tiny", "local-tiny", tmp_path, tmp_path / "logs"))
    yield made
    await made.close()


async def test_the_view_says_what_the_model_cannot_do(model: EmbeddedModel) -> None:
    assert (model.view.embedded, model.view.tools, model.view.vision) == (True, False, False)
    assert "API_KEY" in model.view.about


async def test_missing_weights_are_not_ready_rather_than_an_error(model: EmbeddedModel) -> None:
    with pytest.raises(ModelFault, match="not here yet") as fault:
        await anext(model.stream(HI))
    assert fault.value.kind == "not_ready"


async def test_a_missing_library_is_said_with_how_to_get_it(
    model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelFault, match="extra `local`") as fault:
        await model.prepare(lambda *_: None)
    assert "pip install" in fault.value.hint


async def test_a_file_that_is_no_model_is_named(model: EmbeddedModel, tmp_path: Path) -> None:
    path = weights.path_of(tmp_path, "local-tiny")
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(weights.MODELS["local-tiny"].size)
    with pytest.raises(ModelFault, match=r"SmolLM2.*cannot be loaded") as fault:
        await model.prepare(lambda *_: None)
    assert fault.value.kind == "not_ready"


def test_calls_and_results_are_told_in_words() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "Shell", "arguments": '{"command": "ls"}'}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "README"},
        {"role": "user", "content": "and?"},
    ]
    assert without_tools(messages) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": '[called Shell {"command": "ls"}]'},
        {"role": "user", "content": "[result]\nREADME\n\nand?"},
    ]


if WEIGHTS:

    async def test_a_real_model_answers_with_exact_usage_and_remembers_the_prefix(tmp_path: Path) -> None:
        live = EmbeddedModel(ModelChoice("local-tiny", "local-tiny", Path(WEIGHTS), tmp_path))
        try:
            await live.prepare(lambda *_: None)
            await live.warm(HI, lambda *_: None)
            pieces = [piece async for piece in live.stream(HI)]
        finally:
            await live.close()
        [usage] = [piece for piece in pieces if isinstance(piece, Usage)]
        assert any(isinstance(piece, TextPiece) for piece in pieces)
        assert usage.exact
        assert usage.cached > 0
