"""`replay:FILE`: a model that answers from a recorded script. For the tour, screenshots and tests.

The script is JSON: `{"replies": [REPLY …], "loop": false, "repeat_last_reply": false, "default": REPLY,
"window": tokens}`. A reply, every key optional:

    text, think           streamed in pieces of `chunk` characters, `delay_ms` (or `chunk_delay_ms`) apart
    tools                 [{"name", "args": object or raw text, "id"}]; the argument "{checkpoint}" becomes the number
                          of the newest checkpoint that was sent, "{checkpoint-1}" one less
    chunks                deltas, fed as they are
    usage                 {"prompt_tokens", "completion_tokens"}, or null for a provider that reports none
    finish_reason         the provider's word; null for none
    when                  "compaction": only for a request without tools; else a text that the last message must hold;
                          a reply that does not fit waits for a later request
    hang                  seconds before the first piece
    status, retry_after   fail as HTTP would; or "error": {"status", "headers", "body"}
    drop_after            break the connection after this many pieces (or `drop_after_chunks`)
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any

from kimi_tui.llm.assemble import Assembler
from kimi_tui.llm.faults import from_response
from kimi_tui.llm.model import ModelFault, Piece, Report, Request
from kimi_tui.llm.provider import Dialect, tools_to_provider, written
from kimi_tui.llm.written import Memory
from kimi_tui.protocol.views import ModelView

WINDOW = 128_000
CHUNK = 8

Reply = dict[str, Any]

_CHECKPOINT = re.compile(r"CHECKPOINT (\d+)")
_WANTED = re.compile(r"\{checkpoint(?:-(\d+))?\}")


class ReplayModel:
    """Plays a script. The same requests always get the same answers."""

    def __init__(self, path: Path, name: str = "", window: int | None = None) -> None:
        self._path = path
        self._name = name or f"replay:{path}"
        self._window = window
        self._script: dict[str, Any] | None = None
        self._queue: list[Reply] = []
        self._lock = asyncio.Lock()
        self._memory = Memory()

    @property
    def view(self) -> ModelView:
        recorded = (self._script or {}).get("window", WINDOW)
        return ModelView(self._name, window=self._window or recorded, vision=True)

    async def prepare(self, report: Report) -> None:
        """Reads the script. Raises ModelFault `not_ready` when it cannot be read."""
        async with self._lock:
            if self._script is None:
                self._script = await asyncio.to_thread(_read, self._path)
                self._queue = list(self._script["replies"])

    async def warm(self, request: Request, report: Report) -> None:
        """There is nothing to warm."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        await self.prepare(lambda *_: None)
        last, sent, told, taken = await asyncio.to_thread(_seen_in, request, self._memory)
        reply = with_checkpoint(self._next(last, bool(request.tools)), told)
        await asyncio.sleep(reply.get("hang", 0))
        _fail(reply)
        assembler = Assembler(taken)
        async for chunk in _paced(reply):
            for piece in assembler.feed(chunk):
                yield piece
        for piece in assembler.end(sent):
            yield piece

    async def close(self) -> None:
        """Holds nothing open."""

    def _next(self, last: str, has_tools: bool) -> Reply:
        assert self._script is not None
        if (found := self._take(last, has_tools)) is not None:
            return found
        replies: list[Reply] = self._script["replies"]
        if self._script.get("loop") and replies:
            self._queue = list(replies)
            if (found := self._take(last, has_tools)) is not None:
                return found
        if self._script.get("repeat_last_reply") and replies:
            alike = [reply for reply in replies if (reply.get("when") == "compaction") != has_tools]
            return (alike or replies)[-1]
        default: Reply = self._script.get("default", {"text": "(the script has ended)"})
        return default

    def _take(self, last: str, has_tools: bool) -> Reply | None:
        for position, reply in enumerate(self._queue):
            if _fits(reply.get("when"), last, has_tools):
                return self._queue.pop(position)
        return None


def taken_ids(request: Request) -> Iterator[str]:
    """Call ids that the history uses already."""
    return (call.id for message in request.history for call in message.tool_calls or ())


def _read(path: Path) -> dict[str, Any]:
    try:
        script = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelFault("not_ready", f"The script {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ModelFault("not_ready", f"The script {path} is not JSON: {error}.") from None
    if not isinstance(script, dict) or not isinstance(script.get("replies"), list):
        raise ModelFault("not_ready", f"The script {path} holds no list of replies.")
    return script


def _fits(when: str | None, last: str, has_tools: bool) -> bool:
    if when == "compaction":
        return not has_tools
    return not when or when in last


def _fail(reply: Reply) -> None:
    """Raises the fault that the reply records, if any."""
    error = reply.get("error")
    recorded: dict[str, Any] = error if isinstance(error, dict) else {}
    status = (recorded or reply).get("status")
    if not status:
        return
    headers = dict(recorded.get("headers") or {})
    if "retry_after" in reply:
        headers["retry-after"] = str(reply["retry_after"])
    body = recorded.get("body") if recorded else {"error": {"message": error or f"scripted fault {status}"}}
    text = body if isinstance(body, str) else json.dumps(body or {})
    raise from_response(status, headers, text, host="the script", key_hint="")


async def _paced(reply: Reply) -> AsyncGenerator[dict[str, Any], None]:
    delay = float(reply.get("chunk_delay_ms") or reply.get("delay_ms") or 0) / 1000
    drop = reply.get("drop_after", reply.get("drop_after_chunks"))
    for sent, chunk in enumerate(script_chunks(reply)):
        if sent == drop:
            raise ModelFault("connection", "The connection broke in the middle of the answer.")
        await asyncio.sleep(delay)
        yield chunk


def script_chunks(reply: Reply) -> Iterator[dict[str, Any]]:
    size = reply.get("chunk", CHUNK)
    for field, key in (("reasoning_content", "think"), ("content", "text")):
        yield from (_chunk({field: piece}) for piece in _cut(reply.get(key, ""), size))
    for index, tool in enumerate(reply.get("tools", ())):
        yield from _tool_chunks(index, tool, size)
    yield from (_chunk(delta) for delta in reply.get("chunks", ()))
    reason = reply.get("finish_reason", "tool_calls" if reply.get("tools") else "stop")
    yield {**_chunk({}, reason), "usage": reply.get("usage")}


def _seen_in(request: Request, memory: Memory) -> tuple[str, int, str, list[str]]:
    """The last message as JSON, the size of the whole in tokens, the last message that names a checkpoint, and the ids
    of calls that are taken."""
    messages = written(request, Dialect(reasoning=True), memory)
    told = next((message.text for message in reversed(messages) if _CHECKPOINT.search(message.text)), "")
    sent = sum(each.tokens for each in (*messages, *memory.tools(request.tools, tools_to_provider)))
    return messages[-1].text, sent, told, list(taken_ids(request))


def with_checkpoint(reply: Reply, sent: str) -> Reply:
    """The reply with the numbers of checkpoints that the script could not know."""
    seen = _CHECKPOINT.findall(sent)
    newest = int(seen[-1]) if seen else 0

    def placed(value: Any) -> Any:
        wanted = _WANTED.fullmatch(value) if isinstance(value, str) else None
        return value if wanted is None else max(0, newest - int(wanted[1] or 0))

    tools = [
        {**tool, "args": {name: placed(value) for name, value in tool["args"].items()}}
        if isinstance(tool.get("args"), dict)
        else tool
        for tool in reply.get("tools", ())
    ]
    return {**reply, "tools": tools} if tools else reply


def _tool_chunks(index: int, tool: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    args = tool.get("args", {})
    text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    head = {"index": index, "id": tool.get("id", ""), "function": {"name": tool["name"], "arguments": ""}}
    yield _chunk({"tool_calls": [head]})
    for piece in _cut(text, size):
        yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _cut(text: str, size: int) -> Sequence[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
