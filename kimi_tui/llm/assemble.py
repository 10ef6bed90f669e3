"""Puts a model's answer together from the deltas of a chat-completions stream, as sloppy as servers send them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kimi_tui.llm.model import CallPiece, Finish, ModelFault, Piece, TextPiece, ThinkPiece, Usage
from kimi_tui.llm.sent import count, mapping, mappings, word
from kimi_tui.llm.text import rough_tokens


@dataclass(slots=True)
class _Call:
    position: int
    id: str
    sent_id: str
    """What the provider calls it; may be empty, may repeat."""
    index: Any
    """Where the provider says it stands: a number, mostly."""
    name: str = ""
    arguments: str = ""
    shown: int = 0
    """Characters of the arguments that have left as pieces."""
    announced: bool = False


class Assembler:
    """Folds deltas into pieces. `taken` are call ids of the history, which new ones must not repeat."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._calls: list[_Call] = []
        self._reason = ""
        self._usage: Usage | None = None
        self._written = 0
        """Tokens of the answer so far, roughly."""

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Piece]:
        """One `chat.completion.chunk`."""
        if usage := read_usage(chunk):
            self._usage = usage
        for choice in mappings(chunk.get("choices")):
            self._reason = word(choice.get("finish_reason")) or self._reason
            yield from self._delta(mapping(choice.get("delta") or choice.get("message")))

    def end(self, sent_tokens: int) -> Iterator[Piece]:
        """What is left once the stream has ended: calls without a name, the usage, the finish.

        `sent_tokens` is the estimate of the request, for servers that report no usage. Raises ModelFault `empty`."""
        for call in self._calls:
            call.name = call.name or "unknown"
            yield from self._show(call)
        answered = self._written > 0
        if not answered and not self._calls and self._reason != "content_filter" and not self._paid:
            raise ModelFault("empty", "The model sent an empty answer.")
        yield self._usage or Usage(sent_tokens, self._written, exact=False)
        reason = self._reason or "stop"
        yield Finish("tool_calls" if self._calls and reason == "stop" else reason)

    @property
    def _paid(self) -> bool:
        return self._usage is not None and self._usage.output > 0

    @property
    def counted(self) -> bool:
        """The provider has said what the call cost: nothing has to be estimated."""
        return self._usage is not None

    @property
    def finished(self) -> bool:
        """The provider said why it stopped; a stream that just ends before that was cut off."""
        return bool(self._reason)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        if thought := _plain(delta.get("reasoning_content") or delta.get("reasoning")):
            self._written += rough_tokens(thought)
            yield ThinkPiece(thought)
        for block in mappings(delta.get("thinking_blocks")):
            if signature := word(block.get("signature")):
                yield ThinkPiece("", encrypted=signature)
        if text := _plain(delta.get("content")):
            self._written += rough_tokens(text)
            yield TextPiece(text)
        for sent in mappings(delta.get("tool_calls")):
            yield from self._call_delta(sent)

    def _call_delta(self, sent: Mapping[str, Any]) -> Iterator[Piece]:
        function = mapping(sent.get("function"))
        name, arguments = word(function.get("name")), function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index, sent_id = sent.get("index"), word(sent.get("id"))
        call = self._find(index, sent_id, name) or self._open(index, sent_id)
        call.name = call.name or name
        call.arguments += arguments
        self._written += rough_tokens(name + arguments)
        if call.name:
            yield from self._show(call)

    def _find(self, index: Any, sent_id: str, name: str) -> _Call | None:
        """The call that a delta goes on with. None: it starts one."""
        for call in reversed(self._calls):
            if index is not None and call.index is not None and call.index != index:
                continue
            if index is None and sent_id and call.sent_id and call.sent_id != sent_id:
                continue
            return None if _starts_another(call, sent_id, name) else call
        return None

    def _open(self, index: Any, sent_id: str) -> _Call:
        call = _Call(len(self._calls), self._unique(sent_id), sent_id, index)
        self._calls.append(call)
        return call

    def _unique(self, wanted: str) -> str:
        if not wanted or wanted in self._taken:
            wanted = f"call_{uuid.uuid4().hex[:24]}"
        self._taken.add(wanted)
        return wanted

    def _show(self, call: _Call) -> Iterator[Piece]:
        fresh = call.arguments[call.shown :]
        if fresh or not call.announced:
            name = "" if call.announced else call.name
            call.shown, call.announced = len(call.arguments), True
            yield CallPiece(call.position, call.id, name, fresh)


def _starts_another(call: _Call, sent_id: str, name: str) -> bool:
    """Some servers give every call the index 0, or none; a new id or a name after whole arguments tells them apart."""
    if sent_id and call.sent_id and sent_id != call.sent_id:
        return bool(name) or _whole(call.arguments)
    if not name or not call.name:
        return False
    return _whole(call.arguments) if name == call.name else True


def _whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments, strict=False), dict)
    except ValueError:
        return False


def _plain(content: Any) -> str:
    """The text of a delta's content: a string, or (Mistral) a list of parts."""
    if isinstance(content, list):
        return "".join(word(part.get("text")) for part in mappings(content))
    return content if isinstance(content, str) else ""


def read_usage(chunk: Mapping[str, Any]) -> Usage | None:
    """The usage of a chunk, wherever the provider puts it. `kt_cost` is our own host's figure, in US dollars."""
    choices = mappings(chunk.get("choices"))
    sent = mapping(chunk.get("usage") or (choices[0].get("usage") if choices else None))
    if not isinstance(sent.get("prompt_tokens"), int | float):
        return None
    details = mapping(sent.get("prompt_tokens_details"))
    cached = details.get("cached_tokens") or sent.get("cached_tokens") or sent.get("prompt_cache_hit_tokens")
    return Usage(
        count(sent["prompt_tokens"]), count(sent.get("completion_tokens")), count(cached), cost=chunk.get("kt_cost")
    )
