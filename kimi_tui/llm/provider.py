"""Messages as the providers' dicts (the chat-completions form, which litellm translates for all others)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kimi_tui.llm.history import go_on, paired_and_merged
from kimi_tui.llm.model import Request, ToolSpec
from kimi_tui.llm.pairing import CallIds, IdStyle
from kimi_tui.llm.settled import settled_length
from kimi_tui.llm.text import sendable
from kimi_tui.llm.written import Front, Memory, Recall, Written
from kimi_tui.protocol.messages import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    Message,
    TextPart,
    ThinkPart,
    ToolCall,
    VideoURLPart,
)

NO_THOUGHT = "(none)"
"""Stands in where a provider wants reasoning with each call and none was stored."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one provider takes."""

    vision: bool = True
    tools: bool = True
    reasoning: bool = False
    """Wants its `reasoning_content` back with the assistant's messages."""
    reasoning_settled: bool = False
    """The provider itself has said so."""
    signatures: bool = False
    """Wants signed `thinking_blocks` back (Anthropic)."""
    ids: IdStyle = "kept"
    stream_usage: bool = True
    output_limit: str = "max_tokens"
    """The parameter that bounds the answer."""
    output_cap: int | None = None
    """Tokens to ask for where nobody set a bound and the provider reserves what is asked for in the window."""
    cache_marks: bool = False
    """Caches a prompt only where it is marked (Anthropic)."""


def to_provider(request: Request, dialect: Dialect) -> list[dict[str, Any]]:
    """The request's messages, system prompt first: valid for a strict backend whatever the history holds."""
    return [message.value for message in written(request, dialect, Memory())]


def written(request: Request, dialect: Dialect, memory: Memory) -> list[Written]:
    """The same, as text too. `memory` knows what the last request was made of, and need not make it again."""
    with memory.of(dialect) as recall:
        front = recall.front if recall.front.opens(request.history) else Front(ids=CallIds(dialect.ids))
        rest = request.history[len(front.messages) :]
        settled = settled_length(rest)
        recall.front = front = _grown(front, rest[:settled], dialect, recall)
        said = _said(front, rest[settled:], front.ids.copy(), dialect, recall)
    if not said or said[-1].value["role"] == "assistant":
        _say(said, _user_parts(go_on().content, dialect))
    system = sendable(request.system)
    return [Written({"role": "system", "content": system}), *said] if system.strip() else said


def _grown(front: Front, more: Sequence[Message], dialect: Dialect, recall: Recall) -> Front:
    """The front with settled messages that follow it."""
    if not more:
        return front
    ids = front.ids.copy()
    said = _said(front, more, ids, dialect, recall)
    return Front([*front.messages, *more], said, ids, {**front.entries, **recall.asked})


def _said(front: Front, more: Sequence[Message], ids: CallIds, dialect: Dialect, recall: Recall) -> list[Written]:
    """The front, and messages that follow it. A conversation does not begin with the assistant's word."""
    messages = list(front.written)
    pictures: list[dict[str, Any]] = []

    def shaped(message: Message) -> Written:
        return Written(_assistant(message, dialect) if message.role == "assistant" else _result(message, dialect))

    for message in paired_and_merged(more, ids):
        if pictures and message.role != "tool":
            _say(messages, pictures)
            pictures = []
        if message.role == "user":
            _say(messages, _user_parts(message.content, dialect))
            continue
        if not messages:
            _say(messages, _user_parts(go_on().content, dialect))
        messages.append(recall.known(message, shaped))
        pictures += _pictures(message, dialect) if message.role == "tool" else []
    if pictures:
        _say(messages, pictures)
    return messages


def tools_to_provider(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [tool.sent for tool in tools]


def _say(messages: list[Written], parts: list[dict[str, Any]]) -> None:
    """Adds a user message, or its parts to the one that stands last. Plain text goes as a string: not every server
    takes a list."""
    if messages and messages[-1].value["role"] == "user":
        before = messages.pop().value["content"]
        parts = [*([_text(before)] if isinstance(before, str) else before), *parts]
    only_text = all(part["type"] == "text" for part in parts)
    content: Any = "\n\n".join(part["text"] for part in parts) if only_text else parts
    messages.append(Written({"role": "user", "content": content}))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _user_parts(parts: Sequence[ContentPart], dialect: Dialect) -> list[dict[str, Any]]:
    return [shaped for part in parts if (shaped := _user_part(part, dialect)) is not None]


def _user_part(part: ContentPart, dialect: Dialect) -> dict[str, Any] | None:
    if isinstance(part, TextPart):
        return _text(sendable(part.text)) if part.text.strip() else None
    if isinstance(part, ImageURLPart) and dialect.vision:
        return {"type": "image_url", "image_url": {"url": sendable(part.image_url.url)}}
    note = _left_out(part)
    return _text(note) if note else None


def _left_out(part: ContentPart) -> str:
    if isinstance(part, ImageURLPart):
        return "[an image was left out: this model cannot see images]"
    if isinstance(part, AudioURLPart):
        return "[a sound was left out: this model cannot hear]"
    return "[a video was left out: this model cannot watch videos]" if isinstance(part, VideoURLPart) else ""


def _assistant(message: Message, dialect: Dialect) -> dict[str, Any]:
    """`content` is absent rather than empty beside calls."""
    shaped: dict[str, Any] = {"role": "assistant"}
    if text := _answer(message):
        shaped["content"] = text
    if message.tool_calls:
        shaped["tool_calls"] = [_call(call) for call in message.tool_calls]
    shaped |= _thoughts(message, dialect)
    return shaped


def _answer(message: Message) -> str:
    """The text, with a note for media; blank text beside calls counts as none."""
    pieces = [part.text if isinstance(part, TextPart) else _left_out(part) for part in message.content]
    text = sendable("".join(pieces))
    return text if text.strip() else ""


def _thoughts(message: Message, dialect: Dialect) -> dict[str, Any]:
    thoughts = [part for part in message.content if isinstance(part, ThinkPart)]
    shaped: dict[str, Any] = {}
    if dialect.reasoning:
        reasoning = sendable("".join(part.think for part in thoughts))
        if reasoning.strip() or message.tool_calls:
            shaped["reasoning_content"] = reasoning if reasoning.strip() else NO_THOUGHT
    signed = [
        {"type": "thinking", "thinking": sendable(part.think), "signature": part.encrypted}
        for part in thoughts
        if part.encrypted
    ]
    if dialect.signatures and signed:
        shaped["thinking_blocks"] = signed
    return shaped


def _call(call: ToolCall) -> dict[str, Any]:
    name = re.sub(r"[^A-Za-z0-9_-]", "_", call.function.name)[:64] or "unknown"
    arguments = valid_arguments(call.function.arguments)
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def valid_arguments(written: str | None) -> str:
    """The arguments as the text of a JSON object. What is one already stays as it was written; anything else is
    kept under one key, so that the model still sees what it wrote."""
    if not written or not written.strip():
        return "{}"
    try:
        value = json.loads(written, parse_constant=_no_constant)
        if isinstance(value, dict):
            return sendable(written)
    except (ValueError, RecursionError):
        value = _lenient(written)
    if value is None:
        return "{}"
    return sendable(json.dumps(value if isinstance(value, dict) else {"arguments": value}, ensure_ascii=False))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _lenient(written: str) -> Any:
    """Raw control characters and NaN are forgiven; what is no JSON at all comes back as the text it is."""
    try:
        return json.loads(written, strict=False, parse_constant=str)
    except (ValueError, RecursionError):
        return written


def _result(message: Message, dialect: Dialect) -> dict[str, Any]:
    lines = [_result_line(part, dialect) for part in message.content]
    text = sendable("\n".join(line for line in lines if line))
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text or "(no output)"}


def _result_line(part: ContentPart, dialect: Dialect) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, ImageURLPart) and dialect.vision:
        return "[the image follows]"
    return _left_out(part)


def _pictures(message: Message, dialect: Dialect) -> list[dict[str, Any]]:
    """Images of a result; they follow its block in a user message, for results may hold text only."""
    images = [part for part in message.content if isinstance(part, ImageURLPart)] if dialect.vision else []
    return _user_parts(images, dialect)


def without_tools(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same conversation for a model that knows no tools: calls and results are told in words."""
    told: list[Written] = []
    for message in messages:
        if message["role"] == "tool":
            _say(told, [_text(f"[result]\n{message['content']}")])
        elif calls := message.get("tool_calls"):
            lines = [f"[called {call['function']['name']} {call['function']['arguments']}]" for call in calls]
            content = "\n".join([message.get("content", ""), *lines]).strip()
            told.append(Written({"role": "assistant", "content": content}))
        elif message["role"] == "user":
            content = message["content"]
            _say(told, [_text(content)] if isinstance(content, str) else content)
        else:
            told.append(Written(message))
    return [each.value for each in told]
