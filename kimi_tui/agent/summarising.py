"""Has the model write a summary, also of more than it can read at once.

First whole; else with long texts shortened; else in parts, each read together with the summary of those before it.
When the provider finds a request too long all the same, it is tried again for half the room, a few times at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kimi_tui.agent.compaction import instruction, request, summary_message
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.marks import unwrapped
from kimi_tui.agent.shortening import fitted
from kimi_tui.agent.stream import Draft
from kimi_tui.context import estimate_text_tokens
from kimi_tui.llm.model import ChatModel, ModelFault, Request, TextPiece, ThinkPiece, Usage
from kimi_tui.llm.retry import Restart, stream_with_retry
from kimi_tui.protocol.events import RetryScheduled
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

ATTEMPTS = 4
"""Rooms that are tried: the model's own, then half of it, and half again."""

UNLIMITED = 10**9

Written = Callable[[int, "float | None"], None]
"""Told as the summary grows: tokens so far, and the share of the work that is done, where it can be told."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The message that stands for what was folded, and what it cost."""

    message: Message
    usage: Usage | None

    @property
    def tokens(self) -> int:
        return self.usage.output if self.usage else estimate_text_tokens([self.message])


def edited(summary: Summary, text: str) -> Summary:
    """The summary as the user has rewritten it; an empty text changes nothing."""
    text = text.strip()
    if not text or text == unwrapped(summary.message):
        return summary
    return Summary(summary_message([TextPart(text=text)]), None)


async def summarise(desk: Desk, messages: Sequence[Message], focus: str, written: Written) -> Summary:
    """Fold these messages into one. Raises ModelFault when the model cannot; never tries for ever."""
    model = desk.summariser or desk.model
    if desk.summariser is not None:
        await desk.summariser.prepare(lambda phase, done, total: None)
    room = _room(model, focus)
    for attempt in range(ATTEMPTS):
        try:
            return await _in_room(_Writer(desk, model, focus, written), messages, room)
        except ModelFault as fault:
            if not _too_long(fault) or attempt + 1 == ATTEMPTS:
                raise
            room = min(room, estimate_text_tokens(messages)) // 2
    raise AssertionError("the last attempt returns or raises")


def reply_limit(window: int) -> int | None:
    """Tokens that a summary may have, in a window of that size."""
    return max(512, min(8192, window // 5)) if window else None


def _room(model: ChatModel, focus: str) -> int:
    """Tokens of conversation that one request can hold."""
    window = model.view.window
    if not window:
        return UNLIMITED
    frame = [Message(role="user", content=instruction(focus, small=model.view.embedded) + prompt("compact_system"))]
    return max(500, window - (reply_limit(window) or 0) - estimate_text_tokens(frame) - window // 20)


def _too_long(fault: ModelFault) -> bool:
    return fault.kind == "context_overflow" or fault.status == 413


async def _in_room(writer: _Writer, messages: Sequence[Message], room: int) -> Summary:
    parts = await asyncio.to_thread(_divided, messages, room)
    summary: Summary | None = None
    for number, part in enumerate(parts):
        writer.done, writer.share = number / len(parts), 1 / len(parts)
        summary = await writer.write(part, summary.message.text("\n") if summary else "")
    assert summary is not None
    return summary


def _divided(messages: Sequence[Message], room: int) -> list[Sequence[Message]]:
    """The messages in as few parts as the room allows, shortened where that saves parts."""
    if estimate_text_tokens(messages) > room:
        messages = fitted(messages, room, everything=True)
    return list(_parts(messages, room))


def _parts(messages: Sequence[Message], room: int) -> Iterator[Sequence[Message]]:
    """Neighbouring messages that fit together, with room left for the summary of those before."""
    costs = [estimate_text_tokens([message]) for message in messages]
    size = room if sum(costs) <= room else room * 2 // 3
    part: list[Message] = []
    taken = 0
    for message, cost in zip(messages, costs, strict=True):
        if part and taken + cost > size:
            yield part
            part, taken = [], 0
        part.append(message)
        taken += cost
    yield part


@dataclass(slots=True)
class _Writer:
    """Writes one summary after the other."""

    desk: Desk
    model: ChatModel
    focus: str
    written: Written
    done: float = 0.0
    share: float = 1.0
    _characters: int = field(default=0)

    async def write(self, messages: Sequence[Message], earlier: str) -> Summary:
        ask = Request(
            prompt("compact_system"),
            [request(messages, self.focus, earlier, small=self.model.view.embedded)],
            max_output_tokens=reply_limit(self.model.view.window),
        )
        draft = await self._draft(ask)
        if not draft.text.strip():
            raise ModelFault("empty", "The model wrote no summary.", hint="Try /compact again, or another model.")
        return Summary(summary_message(draft.parts), draft.usage)

    async def _draft(self, ask: Request) -> Draft:
        draft, self._characters = Draft(), 0
        async for piece in stream_with_retry(self.model, ask, self.desk.loop.retry, self._retry):
            if isinstance(piece, Restart):
                draft.clear()
                self._characters = 0
                continue
            draft.add(piece)
            if isinstance(piece, TextPiece | ThinkPiece):
                self._count(len(piece.text))
        return draft

    def _count(self, characters: int) -> None:
        self._characters += characters
        tokens = self._characters // 4
        expected = reply_limit(self.model.view.window) or 2000
        self.written(tokens, self.done + self.share * min(0.95, tokens / min(expected, 1500)))

    def _retry(self, reason: str, attempt: int, attempts: int, wait: float) -> None:
        self.desk.emit(RetryScheduled(reason, attempt, attempts, wait))
