"""The protocol itself, without the process around it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from kimi_tui.llm.chat_http import chat
from kimi_tui.llm.model import ModelFault
from tests.scripted_server import serve

KEY = "sk-FAKE0000000000000000000000ABCD"


async def chunks(base: str) -> list[dict[str, Any]]:
    body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
    call = {"url": f"{base}/chat/completions", "key": KEY, "headers": {}, "host": base[7:-3]}
    async with httpx.AsyncClient() as client:
        return [chunk async for chunk in chat(client, {**call, "key_hint": "Set X_API_KEY."}, body)]


async def text_of(base: str) -> str:
    sent = [choice for chunk in await chunks(base) for choice in chunk["choices"]]
    return "".join((choice.get("delta") or choice["message"]).get("content", "") for choice in sent)


async def fault_of(base: str) -> ModelFault:
    with pytest.raises(ModelFault) as fault:
        await chunks(base)
    return fault.value


async def test_a_stream_that_just_ends_was_cut_off() -> None:
    async with serve([{"text": "half", "finish_reason": None, "done": False}]) as server:
        assert (await fault_of(server.base)).kind == "connection"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"status": 401, "error": f"Incorrect API key provided: {KEY}. headers={{'Authorization': '{KEY}'}}"}, "auth"),
        (
            {"error": {"status": 429, "headers": {"retry-after": "1152"}, "body": {"error": {"message": "limit"}}}},
            "rate_limit",
        ),
        ({"error": {"status": 502, "body": "<html>bad gateway</html>"}}, "server"),
        ({"error": {"status": 413, "body": "<html><title>413 Too Large</title></html>"}}, "context_overflow"),
        ({"raw": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"}, "bad_request"),
    ],
)
async def test_a_fault_is_one_clear_line(reply: dict[str, Any], kind: str) -> None:
    async with serve([reply]) as server:
        fault = await fault_of(server.base)
    assert fault.kind == kind
    assert "\n" not in str(fault)
    assert "FAKE" not in str(fault) + fault.hint
    assert "<" not in str(fault)


async def test_nobody_at_the_address_is_said_with_the_host() -> None:
    fault = await fault_of("http://127.0.0.1:9/v1")
    assert fault.kind == "connection"
    assert "127.0.0.1:9" in str(fault)


async def test_an_error_in_the_middle_of_a_stream_is_told() -> None:
    event = b'data: {"error": {"message": "worker died", "code": 503}}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    async with serve([{"raw": head + event}]) as server:
        fault = await fault_of(server.base)
    assert (fault.kind, "worker died" in str(fault)) == ("server", True)


async def test_line_separators_inside_the_text_do_not_cut_it() -> None:
    chunk = {"choices": [{"delta": {"content": "a\u2028b\x85c"}, "finish_reason": "stop"}]}
    body = f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\ndata: [DONE]\r\n\r\n".encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    async with serve([{"raw": head + body}]) as server:
        assert await text_of(server.base) == "a\u2028b\x85c"


async def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    body = json.dumps(message).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with serve([{"raw": head + body}]) as server:
        assert await text_of(server.base) == "whole"


@pytest.mark.parametrize("base", ["ftp://somewhere/v1", "no-scheme/v1"])
async def test_an_address_that_is_none_is_named(base: str) -> None:
    fault = await fault_of(base)
    assert fault.kind == "bad_request"
    assert "api_base" in str(fault)
