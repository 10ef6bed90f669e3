"""Calls and their results: whatever was cut, killed or written twice, each call ends up with exactly one result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui import resources
from kimi_tui.protocol.messages import Message, TextPart, ToolCall

IdStyle = Literal["kept", "plain", "nine"]
"""What a provider takes for a call id: nearly anything, `[A-Za-z0-9_-]{1,40}`, or nine letters and digits."""


@dataclass(slots=True)
class _Asked:
    """An assistant message with calls, and the results found for them."""

    message: Message
    calls: list[ToolCall]
    results: list[Message | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.results = [None] * len(self.calls)

    def take(self, result: Message) -> None:
        """Gives the result to the first open call of its id; one that finds none is a duplicate and dropped."""
        for position, call in enumerate(self.calls):
            if self.results[position] is None and call.id == (result.tool_call_id or call.id):
                self.results[position] = result
                return


class CallIds:
    """Hands out ids that are unique in one request. The same history always gets the same ids, so caches hold."""

    def __init__(self, style: IdStyle = "kept", used: Iterable[str] = ()) -> None:
        self._style = style
        self._used = set(used)

    def copy(self) -> CallIds:
        """For a part that may be said otherwise in the next request."""
        return CallIds(self._style, self._used)

    def unique(self, wanted: str) -> str:
        """That id, or one like it when it is taken or not in the style."""
        shaped = base = self._shape(wanted)
        count = 1
        while shaped in self._used:
            count += 1
            shaped = self._shape(f"{base}_{count}")
        self._used.add(shaped)
        return shaped

    def _shape(self, wanted: str) -> str:
        if self._style == "nine":
            return wanted if re.fullmatch(r"[A-Za-z0-9]{9}", wanted) else _digest(wanted)[:9]
        if self._style == "plain":
            return wanted if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", wanted) else f"call_{_digest(wanted)[:16]}"
        return wanted if re.fullmatch(r"[!-~]+", wanted) else f"call_{_digest(wanted)[:16]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def pair_calls(history: Sequence[Message], ids: CallIds | None = None) -> list[Message]:
    """The history with every call answered right after it, in call order, by one result.

    A result belongs to the nearest message before it that made a call of its id. Missing results are filled in as
    interrupted, results without a call are dropped, ids that are empty or used again are replaced.
    """
    ids = ids or CallIds()
    paired: list[Message] = []
    for item in _gather(history):
        if isinstance(item, _Asked):
            paired += _answered(item, ids)
        else:
            paired.append(item)
    return paired


def _gather(history: Sequence[Message]) -> list[Message | _Asked]:
    items: list[Message | _Asked] = []
    asked_by: dict[str, _Asked] = {}
    last: _Asked | None = None
    for message in history:
        if message.role == "tool":
            asked = asked_by.get(message.tool_call_id) if message.tool_call_id else last
            if asked is not None:
                asked.take(message)
        elif message.role == "assistant" and message.tool_calls:
            if items and _written_twice(items[-1], message):
                continue
            last = _Asked(message, list(message.tool_calls))
            asked_by |= {call.id: last for call in last.calls}
            items.append(last)
        else:
            items.append(message)
    return items


def _written_twice(before: Message | _Asked, message: Message) -> bool:
    """A doubled record: the same calls with the same ids once more, before any result came."""
    return (
        isinstance(before, _Asked)
        and not any(before.results)
        and before.calls == message.tool_calls
        and before.message.content == message.content
        and all(call.id for call in before.calls)
    )


def _answered(asked: _Asked, ids: CallIds) -> list[Message]:
    """What is right as it stands stays the very object: it is known what that looks like to a provider."""
    calls, results = [], []
    for call, result in zip(asked.calls, asked.results, strict=True):
        unique = ids.unique(call.id)
        calls.append(call if unique == call.id else call.model_copy(update={"id": unique}))
        results.append(_for(unique, result))
    same = all(new is old for new, old in zip(calls, asked.calls, strict=True))
    return [asked.message if same else asked.message.model_copy(update={"tool_calls": calls}), *results]


def _for(call_id: str, result: Message | None) -> Message:
    if result is None:
        return interrupted_result(call_id)
    return result if result.tool_call_id == call_id else result.model_copy(update={"tool_call_id": call_id})


def interrupted_result(call_id: str) -> Message:
    """What stands for a result that never came."""
    meta = {"outcome": "interrupted", "brief": "interrupted"}
    said = TextPart(text=resources.prompt("llm/interrupted"))
    return Message(role="tool", content=[said], tool_call_id=call_id, kt=meta)
