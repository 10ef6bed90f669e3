"""Cuts the history into steps: one span, one row of the timeline, one thing to go back to.

A checkpoint stands before every step, and one more before the user's message of a turn, so that a turn can be taken
back with its prompt. These two make one span: whoever goes back to a turn's first step means the whole turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kimi_tui.agent.marks import Mark, is_prompt, mark_of
from kimi_tui.context import CheckpointMark
from kimi_tui.protocol.messages import Message


@dataclass(frozen=True, slots=True)
class Span:
    """The messages `start … stop` of the history, and the checkpoint before them."""

    mark: CheckpointMark
    start: int
    stop: int
    turn: bool
    """Begins with what the user said."""
    marks: tuple[int, ...]
    """Ids of all checkpoints that the span covers; the first is its own."""
    tokens_after: int | None
    """The context's size at the next span; None for the newest, which still grows."""
    counted_after: bool = True
    """Whether a model has counted it by then (see `Switch.counted`)."""


def spans(history: Sequence[Message], marks: Sequence[CheckpointMark], first: int = 0) -> Iterator[Span]:
    """The spans from the one that begins at `marks[first]` on, oldest first."""
    begin = first
    while begin < len(marks):
        end = begin + 1
        while end < len(marks) and not begins(history, marks, end):
            end += 1
        yield _span(history, marks, begin, end)
        begin = end


def last_spans(history: Sequence[Message], marks: Sequence[CheckpointMark]) -> Iterator[Span]:
    """The spans from the newest on; looks at no more of the history than those cover that are asked for."""
    end = len(marks)
    while end > 0:
        begin = owner(history, marks, end - 1)
        yield _span(history, marks, begin, end)
        end = begin


def begins(history: Sequence[Message], marks: Sequence[CheckpointMark], index: int) -> bool:
    """Whether a new span begins at this mark: with a prompt, with a letter, or because the one before has done
    something."""
    if index == 0 or _opening(history, marks, index) in ("", "dmail"):
        return True
    before = range(marks[index - 1].history_index, marks[index].history_index)
    return any(history[i].role == "assistant" or mark_of(history[i]) == "summary" for i in before)


def owner(history: Sequence[Message], marks: Sequence[CheckpointMark], index: int) -> int:
    """The mark at which the span of `marks[index]` begins."""
    while index > 0 and not begins(history, marks, index):
        index -= 1
    return index


def prompt_of(history: Sequence[Message], span: Span) -> Message | None:
    """What the user said at its beginning; None when it is not a turn's first."""
    if not span.turn:
        return None
    return next((message for message in history[span.start : span.stop] if is_prompt(message)), None)


def _opening(history: Sequence[Message], marks: Sequence[CheckpointMark], index: int) -> Mark | None:
    """What stands first after this mark, the checkpoint's own message aside; None for nothing or an answer."""
    stop = marks[index + 1].history_index if index + 1 < len(marks) else len(history)
    for i in range(marks[index].history_index, stop):
        mark = mark_of(history[i])
        if mark != "checkpoint":
            return mark if history[i].role == "user" else None
    return None


def _span(history: Sequence[Message], marks: Sequence[CheckpointMark], begin: int, end: int) -> Span:
    last = end == len(marks)
    return Span(
        mark=marks[begin],
        start=marks[begin].history_index,
        stop=len(history) if last else marks[end].history_index,
        turn=_opening(history, marks, begin) == "",
        marks=tuple(mark.id for mark in marks[begin:end]),
        tokens_after=None if last else marks[end].tokens,
        counted_after=last or marks[end].counted,
    )
