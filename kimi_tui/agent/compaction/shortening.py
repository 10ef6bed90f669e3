"""Makes messages smaller without making them wrong: long texts lose their middle, and say so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kimi_tui.context import Calibration, estimate_text_tokens
from kimi_tui.protocol.messages import Message, TextPart, ToolCall

LEVELS = (8000, 2000, 500)
"""Characters that a text may keep, from gentle to harsh."""


def fitted(
    messages: Sequence[Message], room: int, calibration: Calibration | None = None, *, everything: bool = False
) -> list[Message]:
    """The messages with tool outputs and long call arguments shortened as far as needed to fit in `room` tokens.

    With `everything`, what was said is shortened too. Messages that stay as they are stay the same objects. The
    result may still be too big: what may not be shortened is not.
    """
    result = list(messages)
    for limit in LEVELS:
        if estimate_text_tokens(result, calibration) <= room:
            break
        result = [shortened(message, limit, everything=everything) for message in result]
    return result


def shortened(message: Message, limit: int, *, everything: bool = False) -> Message:
    """One message, with no text longer than about `limit` characters."""
    changes: dict[str, Any] = {}
    if everything or message.role == "tool":
        content = [_clipped_part(part, limit) for part in message.content]
        if any(new is not old for new, old in zip(content, message.content, strict=True)):
            changes["content"] = content
    calls = [_clipped_call(call, limit) for call in message.tool_calls or ()]
    if any(new is not old for new, old in zip(calls, message.tool_calls or (), strict=True)):
        changes["tool_calls"] = calls
    return message.model_copy(update=changes) if changes else message


def clipped(text: str, limit: int) -> str:
    """Head and tail of a text that is too long, with a word about what is missing."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[len(text) - tail :]}"


def _clipped_part(part: Any, limit: int) -> Any:
    if isinstance(part, TextPart) and len(part.text) > limit:
        return part.model_copy(update={"text": clipped(part.text, limit)})
    return part


def _clipped_call(call: ToolCall, limit: int) -> ToolCall:
    """A call whose long arguments are clipped; still JSON of the same shape."""
    text = call.function.arguments or ""
    if len(text) <= limit:
        return call
    try:
        arguments = _clipped_value(json.loads(text), limit)
    except (ValueError, RecursionError):
        return call
    shorter = call.function.model_copy(update={"arguments": json.dumps(arguments, ensure_ascii=False)})
    return call.model_copy(update={"function": shorter})


def _clipped_value(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return clipped(value, limit)
    if isinstance(value, list):
        return [_clipped_value(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _clipped_value(item, limit) for key, item in value.items()}
    return value
