"""What happens in a turn, and what waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.chat import Entry
from kimi_tui.protocol.views.timeline import TimelineRow
from kimi_tui.protocol.views.tokens import Tokens


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    entry: Entry
    index: int
    """Position of the user's entry in the chat."""


TurnEnd = Literal["done", "interrupted", "failed", "max_steps", "tool_call_repeat", "blocked"]


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """Always the last event of a turn, whatever happened.

    A prompt that was stopped before it was stored (`blocked` by a hook, interrupted, a full disk) comes without
    `TurnStarted` and is given back by `PromptReturned`."""

    reason: TurnEnd
    message: str = ""
    hint: str = ""
    steps: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    number: int


@dataclass(frozen=True, slots=True)
class StepEnded(Event):
    number: int
    row: TimelineRow
    """The checkpoint's row, now that it is known what the step did and what it cost."""


@dataclass(frozen=True, slots=True)
class CheckpointCreated(Event):
    row: TimelineRow
    before: TimelineRow | None = None
    """The row below it, which is complete now: what its step has cost is no longer growing."""


@dataclass(frozen=True, slots=True)
class ThinkingDelta(Event):
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    text: str


@dataclass(frozen=True, slots=True)
class StreamReset(Event):
    """Forget the thinking and text of the step so far: the stream broke and is asked for again."""


@dataclass(frozen=True, slots=True)
class MessageStored(Event):
    """The assistant's message is on disk. `entries` replace what was streamed, tools still running included."""

    start: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class EntryAdded(Event):
    """Something else joined the chat: a note, an injection, an error, a shell command of the user's."""

    index: int | None
    """Position among the stored entries; None for what is only said on the screen and not remembered."""
    entry: Entry


@dataclass(frozen=True, slots=True)
class RetryScheduled(Event):
    reason: str
    attempt: int
    attempts: int
    wait: float


@dataclass(frozen=True, slots=True)
class TokensChanged(Event):
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class SteerTaken(Event):
    """A steer is in the context now."""

    index: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class QueueChanged(Event):
    """What waits: steers for the running turn, prompts for after it."""

    steers: tuple[str, ...]
    prompts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptReturned(Event):
    """Text that was not used goes back into the input (a dropped steer, a refused prompt)."""

    text: str
    reason: str = ""
    images: tuple[str, ...] = ()
    """Data URLs of the images that the text's tags stand for, in their order."""
