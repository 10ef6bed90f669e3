"""Making the context smaller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.commands.base import Command


@dataclass(frozen=True, slots=True)
class Compact(Command):
    """Folds the context: now, or between two steps of the turn that runs."""

    focus: str = ""


@dataclass(frozen=True, slots=True)
class AnswerCompaction(Command):
    """What becomes of a `CompactionProposed`."""

    answer: Literal["accept", "redo", "cancel"]
    text: str = ""
    """The summary as it shall be (`accept`); empty: as it was proposed."""
    focus: str = ""
    """What the next try shall keep (`redo`)."""


@dataclass(frozen=True, slots=True)
class SnoozeCompaction(Command):
    """Takes `CompactionNear` off the screen until the context has grown by some more."""


@dataclass(frozen=True, slots=True)
class PinEntry(Command):
    """Compactions keep the message of this chat entry word for word, or no longer. Answered by `EntriesChanged`."""

    index: int
    on: bool = True


@dataclass(frozen=True, slots=True)
class DropResult(Command):
    """Takes the result of the tool call with this chat entry out of the context; the call stays. Can be undone."""

    index: int


@dataclass(frozen=True, slots=True)
class MeasureContext(Command):
    """Answered by `ContextMeasured`."""
