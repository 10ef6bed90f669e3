"""Has the model write about messages, also about more of them than it can read at once.

First whole; else with long texts shortened; else in parts, each read together with what was written of those before it.
When the provider finds a request too long all the same, it is tried again for half the room, a few times at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from kimi_tui.agent.compaction.shortening import fitted
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.stream import Draft
from kimi_tui.context import estimate_text_tokens
from kimi_tui.llm.model import ChatModel, ModelFault, Request, TextPiece, ThinkPiece
from kimi_tui.llm.retry import OnRetry, Restart, stream_with_retry
from kimi_tui.protocol.messages import Message

ATTEMPTS = 4
"""Rooms that are tried: the model's own, then half of it, and half again."""

UNLIMITED = 10**9

Watch = Callable[[Draft, float, float], None]
"""Told as the text grows: what there is of it, the share of the work that was done before it, and its own share."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be written about the messages."""

    system: str
    frame: str
    """What a request holds beside the messages, for its size."""
    ask: Callable[[Sequence[Message], str], Message]
    """The request about some messages; the text is what was written of those before them."""
    empty: ModelFault
    """What is wrong when the model writes nothing."""
    retrying: OnRetry
    longest: int = 8192
    """Tokens of the text, at most."""


async def writer_of(desk: Desk) -> ChatModel:
    """The model that writes summaries, made ready. Raises ModelFault."""
    if desk.summariser is None:
        return desk.model
    await desk.summariser.prepare(lambda phase, done, total: None)
    return desk.summariser


async def condense(desk: Desk, model: ChatModel, messages: Sequence[Message], task: Task, watch: Watch) -> Draft:
    """What the model writes about these messages. Raises ModelFault when it cannot; never tries for ever."""
    room = _room(model, task)
    for attempt in range(ATTEMPTS):
        try:
            return await _in_room(_Writer(desk, model, task, watch), messages, room)
        except ModelFault as fault:
            if not _too_long(fault) or attempt + 1 == ATTEMPTS:
                raise
            room = min(room, estimate_text_tokens(messages)) // 2
    raise AssertionError("the last attempt returns or raises")


def reply_limit(window: int, longest: int = 8192) -> int | None:
    """Tokens that a text may have, in a window of that size."""
    return max(512, min(longest, window // 5)) if window else None


def _room(model: ChatModel, task: Task) -> int:
    """Tokens of conversation that one request can hold."""
    window = model.view.window
    if not window:
        return UNLIMITED
    frame = [Message(role="user", content=task.frame + task.system)]
    return max(500, window - (reply_limit(window, task.longest) or 0) - estimate_text_tokens(frame) - window // 20)


def _too_long(fault: ModelFault) -> bool:
    return fault.kind == "context_overflow" or fault.status == 413


async def _in_room(writer: _Writer, messages: Sequence[Message], room: int) -> Draft:
    parts = await asyncio.to_thread(_divided, messages, room)
    draft: Draft | None = None
    for number, part in enumerate(parts):
        writer.done, writer.share = number / len(parts), 1 / len(parts)
        draft = await writer.write(part, draft.text if draft else "")
    assert draft is not None
    return draft


def _divided(messages: Sequence[Message], room: int) -> list[Sequence[Message]]:
    """The messages in as few parts as the room allows, shortened where that saves parts."""
    if estimate_text_tokens(messages) > room:
        messages = fitted(messages, room, everything=True)
    return list(_parts(messages, room))


def _parts(messages: Sequence[Message], room: int) -> Iterator[Sequence[Message]]:
    """Neighbouring messages that fit together, with room left for what was written of those before."""
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
    """Writes about one part after the other."""

    desk: Desk
    model: ChatModel
    task: Task
    watch: Watch
    done: float = 0.0
    share: float = 1.0

    async def write(self, messages: Sequence[Message], earlier: str) -> Draft:
        limit = reply_limit(self.model.view.window, self.task.longest)
        ask = Request(self.task.system, [self.task.ask(messages, earlier)], max_output_tokens=limit)
        draft = await self._draft(ask)
        if draft.usage:
            self.desk.spent(draft.usage)
        if not draft.text.strip():
            raise self.task.empty
        return draft

    async def _draft(self, ask: Request) -> Draft:
        draft = Draft()
        async with aclosing(stream_with_retry(self.model, ask, self.desk.loop.retry, self.task.retrying)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Restart):
                    draft.clear()
                    continue
                draft.add(piece)
                if isinstance(piece, TextPiece | ThinkPiece):
                    self.watch(draft, self.done, self.share)
        return draft
