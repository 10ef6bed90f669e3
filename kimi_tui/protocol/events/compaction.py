"""How a compaction goes, and what fills the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.chat import Entry
from kimi_tui.protocol.views.tokens import Tokens, TokenShare

CompactionPhase = Literal["hooks", "reading", "summarising", "reviewing", "switching"]


@dataclass(frozen=True, slots=True)
class CompactionNear(Event):
    """The context will soon be compacted by itself. With a `trigger` of 0 that is over, or not to be said now."""

    tokens: int
    trigger: int


@dataclass(frozen=True, slots=True)
class CompactionStarted(Event):
    reason: Literal["auto", "manual"]
    tokens: int
    focus: str = ""


@dataclass(frozen=True, slots=True)
class CompactionProgressed(Event):
    phase: CompactionPhase
    tokens: int = 0
    """Tokens of the summary so far while summarising, else tokens to read."""
    fraction: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CompactionProposed(Event):
    """With `[compaction] preview`: the summary, before anything has changed. Waits for `AnswerCompaction`;
    `CompactionEnded` says that nothing is asked any more."""

    summary: str
    replaced: tuple[Entry, ...]
    """What the summary would stand for."""
    kept: tuple[Entry, ...]
    """What follows it word for word: pinned messages, the newest request, the last messages."""
    tokens_before: int
    tokens_after: int
    focus: str = ""


@dataclass(frozen=True, slots=True)
class CompactionEnded(Event):
    outcome: Literal["done", "nothing", "cancelled", "failed"]
    tokens_before: int = 0
    tokens_after: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class ContextMeasured(Event):
    shares: tuple[TokenShare, ...]
    tokens: Tokens
