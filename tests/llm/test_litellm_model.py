from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.litellm_model import LitellmModel
from kimi_tui.llm.model import CallPiece, Finish, ModelFault, Piece, Request, TextPiece, ThinkPiece, ToolSpec, Usage
from kimi_tui.llm.retry import Restart, RetryPolicy, stream_with_retry
from kimi_tui.protocol.messages import FunctionBody, Message, ThinkPart, ToolCall
from tests.scripted_server import Server, serve

TOOL = ToolSpec("Shell", "runs", {"type": "object", "properties": {"command": {"type": "string"}}})
KEY = "sk-FAKE0000000000000000000000ABCD"

Make = Callable[..., LitellmModel]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[LitellmModel] = []

    def build(base: str | None, model: str = "scripted", **more: Any) -> LitellmModel:
        made.append(LitellmModel(ModelChoice(model, model, tmp_path, tmp_path / "logs", api_base=base, **more)))
        return made[-1]

    yield build
    for model in made:
        await model.close()


def request(*history: Message, tools: tuple[ToolSpec, ...] = (TOOL,)) -> Request:
    return Request("Be brief.", history or (Message(role="user", content="hi"),), tools)


async def ask(model: LitellmModel, what: Request | None = None) -> list[Piece]:
    return [piece async for piece in model.stream(what or request())]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


async def fault_of(model: LitellmModel) -> ModelFault:
    with pytest.raises(ModelFault) as fault:
        await ask(model)
    return fault.value


async def test_an_answer_streams_with_thinking_calls_and_exact_usage(make: Make) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
    reply = {"think": "hm", "text": "forty-two", "chunk": 5, "usage": usage}
    async with serve([{**reply, "tools": [{"name": "Shell", "args": "{}", "id": "c1"}]}]) as server:
        pieces = await ask(make(server.base))
    assert pieces == [
        *(ThinkPiece("hm"), TextPiece("forty"), TextPiece("-two")),
        *(CallPiece(0, "c1", "Shell", ""), CallPiece(0, "c1", "", "{}")),
        *(Usage(20, 3, 5), Finish("tool_calls")),
    ]


async def test_what_is_sent_is_the_openai_form(make: Make) -> None:
    async with serve([{"text": "ok"}]) as server:
        await ask(make(server.base, "openai/some/model", api_key=KEY, max_output_tokens=99, headers={"X-Team": "a"}))
    [sent], [headers] = server.requests, server.headers
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert sent["tools"][0]["function"]["name"] == "Shell"
    assert (sent["model"], sent["max_tokens"]) == ("some/model", 99)
    assert sent["stream_options"] == {"include_usage": True}
    assert (headers["authorization"], headers["x-team"]) == (f"Bearer {KEY}", "a")


async def test_a_dropped_stream_is_asked_for_again(make: Make) -> None:
    async with serve([{"text": "The answer is fort", "drop_after": 2}, {"text": "The answer"}]) as server:
        told: list[str] = []
        policy = RetryPolicy(first_wait=0.01)
        stream = stream_with_retry(make(server.base), request(), policy, lambda why, *_: told.append(why))
        pieces = [piece async for piece in stream]
    after = pieces[pieces.index(Restart()) + 1 :]
    assert "".join(piece.text for piece in after if isinstance(piece, TextPiece)) == "The answer"
    assert len(told) == 1


def refusal(message: str) -> dict[str, Any]:
    return {"error": {"status": 400, "body": {"error": {"message": message}}}}


async def test_a_refused_parameter_is_left_out_from_then_on(make: Make) -> None:
    refusals = ["stream_options is not allowed", "use max_completion_tokens", "this model does not support tools"]
    async with serve([*map(refusal, refusals), {"text": "ok"}, {"text": "ok"}]) as server:
        model = make(server.base, max_output_tokens=7)
        assert text_of(await ask(model)) == "ok"
        await ask(model)
    for sent in server.requests[-2:]:
        assert not {"stream_options", "max_tokens", "tools"} & set(sent)
        assert sent["max_completion_tokens"] == 7
    assert model.view.tools is False


async def test_reasoning_goes_back_or_stays_away_as_the_provider_says(make: Make) -> None:
    call = ToolCall(id="a", function=FunctionBody(name="Shell", arguments="{}"))
    asked = Message(role="assistant", content=[ThinkPart(think="hm")], tool_calls=[call])
    what = request(Message(role="user", content="go"), asked, Message(role="tool", content="ok", tool_call_id="a"))
    async with serve([refusal("property 'reasoning_content' is unsupported"), {"text": "ok"}]) as server:
        await ask(make(server.base), what)
    assert ["reasoning_content" in sent["messages"][2] for sent in server.requests] == [True, False]


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with serve([{"text": "ok"}]) as server:
        assert text_of(await ask(make(server.base))) == "ok"


async def test_leaving_the_stream_hangs_up(make: Make) -> None:
    async with serve([{"text": "word " * 40_000, "delay_ms": 5}]) as server:
        async with aclosing(make(server.base).stream(request())) as pieces:
            async for _ in pieces:
                break
        await until(lambda: server.hung_up == 1)


async def test_two_calls_may_run_at_once(make: Make) -> None:
    async with serve([{"text": "one", "delay_ms": 5}, {"text": "two", "delay_ms": 5}]) as server:
        model = make(server.base)
        answers = await asyncio.gather(ask(model), ask(model))
    assert sorted(map(text_of, answers)) == ["one", "two"]


async def test_a_process_that_was_killed_is_a_passing_fault_and_is_started_again(make: Make) -> None:
    async with serve([{"text": "word " * 40_000, "delay_ms": 5}, {"text": "back"}]) as server:
        model = make(server.base)
        with pytest.raises(ModelFault) as fault:
            async for _ in model.stream(request()):
                os.kill(pid_of(model), signal.SIGKILL)
        assert fault.value.passing
        assert text_of(await ask(model)) == "back"


async def test_closing_ends_the_process(make: Make) -> None:
    async with serve([{"text": "ok"}]) as server:
        model = make(server.base)
        await ask(model)
        pid = pid_of(model)
        await model.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_history_of_megabytes_goes_through(make: Make) -> None:
    async with serve([{"text": "x" * 300_000, "chunk": 300_000}]) as server:
        pieces = await ask(make(server.base), request(Message(role="user", content="中" * 1_000_000)))
    assert len(text_of(pieces)) == 300_000
    assert len(server.requests[0]["messages"][1]["content"]) == 1_000_000


async def test_a_missing_key_is_said_before_anything_starts(make: Make) -> None:
    model = make(None, "moonshot/kimi-k2.5")
    with pytest.raises(ModelFault, match="MOONSHOT_API_KEY") as fault:
        await model.prepare(lambda *_: None)
    assert fault.value.kind == "auth"
    assert "export MOONSHOT_API_KEY=" in fault.value.hint


async def test_what_litellm_knows_of_a_model_is_known_without_importing_it(make: Make) -> None:
    model = make("http://127.0.0.1:9/v1", "openai/gpt-4o")
    await model.prepare(lambda *_: None)
    assert (model.view.window, model.view.vision, model.view.tools) == (128_000, True, True)
    assert make("http://127.0.0.1:9/v1", "gpt-4o", context_window=9).view.window == 9


async def test_the_litellm_path_streams_fails_and_hangs_up_like_the_other(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    said = f"Incorrect API key provided: {KEY}"
    replies = [
        {"text": "hello", "usage": usage},
        {"status": 401, "error": said},
        {"text": "w " * 90_000, "delay_ms": 5},
    ]
    async with serve(replies) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        model = make(None, "openai/gpt-4o")
        await model.prepare(lambda *_: None)
        pieces = await ask(model)
        assert text_of(pieces) == "hello"
        assert Usage(1000, 100, cost=pytest.approx(0.0035)) in pieces
        fault = await fault_of(model)
        assert (fault.kind, "FAKE" in str(fault)) == ("auth", False)
        await hang_up(model, server)


async def hang_up(model: LitellmModel, server: Server) -> None:
    async with aclosing(model.stream(request())) as pieces:
        async for _ in pieces:
            break
    await until(lambda: server.hung_up == 1)


def pid_of(model: LitellmModel) -> int:
    pid = model._child.pid
    assert pid is not None
    return pid


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("host", ["litellm_host", "embedded_host", "weights_host"])
def test_a_model_process_starts_without_what_it_does_not_need(host: str) -> None:
    heavy = {"pydantic", "litellm", "xllamacpp", "textual"}
    code = f"import sys, kimi_tui.llm.{host}; print(*({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
