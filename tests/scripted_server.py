"""An OpenAI-compatible server on the loopback that answers from a script, and refuses what a strict backend would.

    async with serve([{"text": "hi"}]) as server:
        … server.base, server.requests …

A reply is what `kimi_tui.llm.replay_model` documents, played over HTTP. Further keys: `raw` (bytes sent as the whole
response, as they are), `done` (False: no `[DONE]` at the end).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.llm.replay_model import script_chunks


def violations(messages: list[dict[str, Any]]) -> list[str]:
    """What a strict backend would refuse, in words."""
    found: list[str] = []
    open_calls: list[str] = []
    before = ""
    for place, message in enumerate(messages):
        role = message["role"]
        if open_calls and role != "tool":
            found.append(f"{place}: {role} while {open_calls} wait for results")
            open_calls = []
        if role == before and role in ("user", "system"):
            found.append(f"{place}: {role} twice in a row")
        if role == "system" and place:
            found.append(f"{place}: system prompt not first")
        if role == "assistant":
            found += [f"{place}: {fault}" for fault in _assistant_faults(message)]
            open_calls = [call["id"] for call in message.get("tool_calls", ())]
        elif role == "tool" and (not open_calls or message["tool_call_id"] != open_calls.pop(0)):
            found.append(f"{place}: a result that answers no call, or out of order")
        elif not message.get("content"):
            found.append(f"{place}: {role} without content")
        before = role
    if open_calls:
        found.append(f"end: {open_calls} wait for results")
    if before in ("assistant", "system", ""):
        found.append(f"end: the last message is of role {before!r}")
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    return [*found, *(["call ids repeat"] if len(ids) != len(set(ids)) else [])]


def _assistant_faults(message: dict[str, Any]) -> Iterator[str]:
    if not message.get("tool_calls") and not message.get("content", "").strip():
        yield "empty assistant message"
    if "content" in message and not message["content"]:
        yield "empty content beside calls"
    for call in message.get("tool_calls", ()):
        if not call["id"] or not call["function"]["name"]:
            yield "a call without id or name"
        if not isinstance(json.loads(call["function"]["arguments"]), dict):
            yield "arguments are no JSON object"


@dataclass
class Server:
    """What was asked, and the replies still to come."""

    replies: list[dict[str, Any]]
    base: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hung_up: int = 0
    """Connections that the client closed in the middle of an answer."""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head.split("\r\n")[1:])}
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            self.requests.append(body)
            self.headers.append(headers)
            await self._answer(body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up += 1
        finally:
            writer.close()

    async def _answer(self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if bad := violations(body["messages"]):
            _write(writer, 400, {}, json.dumps({"error": {"message": "; ".join(bad)}}))
            return
        reply = self.replies.pop(0) if self.replies else {"text": "(the script has ended)"}
        await asyncio.sleep(reply.get("hang", 0))
        error = reply.get("error")
        if "raw" in reply:
            writer.write(reply["raw"])
        elif isinstance(error, dict):
            text = error["body"] if isinstance(error["body"], str) else json.dumps(error["body"])
            _write(writer, error["status"], error.get("headers", {}), text)
        elif "status" in reply:
            _write(writer, reply["status"], {}, json.dumps({"error": {"message": error or "scripted"}}))
        else:
            await self._stream(reply, reader, writer)

    async def _stream(self, reply: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        delay = reply.get("delay_ms", reply.get("chunk_delay_ms", 0)) / 1000
        drop = reply.get("drop_after", reply.get("drop_after_chunks"))
        for sent, chunk in enumerate(script_chunks(reply)):
            if sent == drop:
                await writer.drain()
                writer.transport.abort()
                return
            _write_chunk(writer, f"data: {json.dumps(chunk)}\n\n".encode())
            await writer.drain()
            await asyncio.sleep(delay)
            if reader.at_eof():
                raise ConnectionError
        if reply.get("done", True):
            _write_chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _write(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], text: str) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(text.encode())}\r\nConnection: close\r\n{lines}\r\n"
    writer.write((head + text).encode())


def _write_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


@asynccontextmanager
async def serve(replies: list[dict[str, Any]]) -> AsyncIterator[Server]:
    """A server of its own on a free port; `base` is its api_base."""
    served = Server(list(replies))
    server = await asyncio.start_server(served.handle, "127.0.0.1", 0)
    served.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield served
    finally:
        server.close()
