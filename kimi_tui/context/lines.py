"""Records on their way to the disk: what they say beside the bytes that say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kimi_tui.context.calibration import Cost
from kimi_tui.context.records import (
    Checkpoint,
    MessageLine,
    Record,
    Stamp,
    SystemPrompt,
    Usage,
    without_surrogates,
    write_checkpoint,
    write_message,
    write_system_prompt,
    write_usage,
)
from kimi_tui.context.tokens import message_cost
from kimi_tui.protocol.messages import Message, TextPart


@dataclass(frozen=True, slots=True)
class Line:
    record: Record
    data: bytes
    message: Message | None = None
    cost: Cost | None = None
    """Of the message, where it was reckoned ahead."""


WEIGHED_ABOVE = 16 << 10
"""Bytes of a group of records from which on its tokens are estimated in a worker: long texts take milliseconds."""


def of_messages(messages: Message | Sequence[Message]) -> list[Line]:
    """Raises before anything is written when a message cannot be."""
    group = [messages] if isinstance(messages, Message) else messages
    return [Line(MessageLine(), data, message) for data, message in map(write_message, group)]


def weighed(group: Sequence[Line]) -> list[Line]:
    """The same records, with what their messages cost."""
    return [line if line.message is None else replace(line, cost=message_cost(line.message)) for line in group]


def of_usage(token_count: int, at: float | None) -> Line:
    stamp = None if at is None else Stamp(at)
    return Line(Usage(token_count, stamp), write_usage(token_count, stamp))


def of_checkpoint(number: int, at: float | None, tokens: Callable[[], int]) -> Line:
    """`tokens` is asked for only when the record is stamped: an estimate takes time."""
    stamp = None if at is None else Stamp(at, tokens())
    return Line(Checkpoint(number, stamp), write_checkpoint(number, stamp))


def of_system_prompt(text: str) -> Line:
    return Line(SystemPrompt(without_surrogates(text)), write_system_prompt(text))


def visible_checkpoint(number: int) -> Message:
    """How the model sees a checkpoint, so that it can send a D-Mail there."""
    return Message(role="user", content=[TextPart(text=f"<system>CHECKPOINT {number}</system>")])


def joined(lines: Iterable[Line]) -> bytes:
    return b"".join(line.data for line in lines)


def size_of(lines: Iterable[Line]) -> int:
    """In bytes."""
    return sum(len(line.data) for line in lines)
