"""The chat-completions protocol over plain HTTP: one streamed call to any server that speaks it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any

import httpx

from kimi_tui.llm.faults import from_response, readable
from kimi_tui.llm.masking import mask
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.sent import mappings

TIMEOUT = httpx.Timeout(connect=15, read=600, write=60, pool=15)
"""Seconds. Reading is the wait for the next piece: a long prompt or a long thought may take minutes."""
_ERROR_LIMIT = 64 * 1024

Chunk = dict[str, Any]


async def chat(client: httpx.AsyncClient, call: dict[str, Any], body: bytes) -> AsyncGenerator[Chunk, None]:
    """Chunks of one answer. `call` holds `url`, `key`, `headers`, and for the words of a fault `host` and `key_hint`;
    `body` is the request, as JSON. Raises ModelFault."""
    kinds = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    headers = {"Authorization": f"Bearer {call['key']}", **kinds, **call["headers"]}
    try:
        async with client.stream("POST", call["url"], content=body, headers=headers, timeout=TIMEOUT) as response:
            async for chunk in _chunks(response, call):
                yield chunk
    except httpx.HTTPError as error:
        raise _fault(error, call) from None
    except httpx.InvalidURL:
        raise _bad_base(call, "is no URL") from None


async def _chunks(response: httpx.Response, call: dict[str, Any]) -> AsyncGenerator[Chunk, None]:
    if not response.is_success:
        raise from_response(
            response.status_code,
            response.headers,
            await _head(response),
            host=call["host"],
            key_hint=call["key_hint"],
        )
    kind = response.headers.get("content-type", "")
    if "event-stream" in kind:
        finished = False
        async for data in events(response.aiter_bytes()):
            if data == "[DONE]":
                return
            chunk = _checked(data, call)
            finished = finished or any(choice.get("finish_reason") for choice in mappings(chunk.get("choices")))
            yield chunk
        if not finished:
            raise ModelFault("connection", "The connection ended in the middle of the answer.")
    elif "json" in kind:
        yield _checked((await response.aread()).decode("utf-8", "replace"), call)
    else:
        raise _bad_base(call, f"answers with {kind or 'something'}, not as a chat server")


async def events(raw: AsyncIterable[bytes]) -> AsyncGenerator[str, None]:
    """The data of server-sent events. Lines end with LF or CRLF and nothing else: a line separator of Unicode may
    stand inside JSON."""
    rest, data = b"", list[bytes]()
    async for block in raw:
        *lines, rest = (rest + block).split(b"\n")
        for line in (line.rstrip(b"\r") for line in lines):
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data).decode("utf-8", "replace")
                data.clear()
    if rest.startswith(b"data:"):
        data.append(rest[5:].strip())
    if data:
        yield b"\n".join(data).decode("utf-8", "replace")


def _checked(data: str, call: dict[str, Any]) -> Chunk:
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError):
        raise ModelFault("server", "The provider sent a piece that is not JSON.") from None
    if not isinstance(chunk, dict):
        raise ModelFault("server", "The provider sent a piece that is no object.")
    if error := chunk.get("error"):
        status = error.get("code") if isinstance(error, dict) else None
        status = status if isinstance(status, int) and 400 <= status < 600 else 500
        raise from_response(status, {}, data, host=call["host"], key_hint=call["key_hint"])
    return chunk


async def _head(response: httpx.Response) -> str:
    """The start of an error body; some are whole pages."""
    body = b""
    async for block in response.aiter_bytes():
        body += block
        if len(body) > _ERROR_LIMIT:
            break
    return body[:_ERROR_LIMIT].decode("utf-8", "replace")


def _fault(error: httpx.HTTPError, call: dict[str, Any]) -> ModelFault:
    host = call["host"]
    reach = f"Check the network and that {host} can be reached."
    why = readable(str(error))
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ModelFault("timeout", f"{host} does not answer.", hint=reach)
        case httpx.TimeoutException():
            return ModelFault("timeout", f"{host} has sent nothing for {TIMEOUT.read:.0f} s.", hint=reach)
        case httpx.UnsupportedProtocol():
            return _bad_base(call, "does not start with http:// or https://")
        case httpx.ConnectError() | httpx.ProxyError():
            return ModelFault("connection", f"Cannot connect to {host}: {why or 'no connection'}", hint=reach)
    return ModelFault("connection", f"The connection to {host} broke: {why or type(error).__name__}", hint=reach)


def _bad_base(call: dict[str, Any], why: str) -> ModelFault:
    hint = "An api_base usually ends with /v1."
    return ModelFault("bad_request", f"The api_base {mask(call['url'])} {why}.", hint=hint)
