"""Time moved, or was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.chat import DiffView, Entry
from kimi_tui.protocol.views.rotations import PruningView, RotationView
from kimi_tui.protocol.views.timeline import RevertPreview, SwitchView, TimelineRow


@dataclass(frozen=True, slots=True)
class ContextSwitched(Event):
    """Time moved. A `TranscriptReset` with the same switch follows at once."""

    switch: SwitchView


@dataclass(frozen=True, slots=True)
class RevertPreviewed(Event):
    preview: RevertPreview


@dataclass(frozen=True, slots=True)
class FilePreviewed(Event):
    path: str
    diff: DiffView | None
    """From what stands there now to what would be put back; None when that is no text."""


@dataclass(frozen=True, slots=True)
class NoteDrafted(Event):
    """How a `DraftNote` stands. It ends with `done`, `stopped` or `failed`."""

    number: int
    state: Literal["writing", "done", "stopped", "failed"]
    text: str = ""
    """All of the note so far."""
    message: str = ""
    """Why it failed and what to do, or what it waits for."""


@dataclass(frozen=True, slots=True)
class RotationsListed(Event):
    rotations: tuple[RotationView, ...]


@dataclass(frozen=True, slots=True)
class PruningProposed(Event):
    """A dry run."""

    pruning: PruningView


@dataclass(frozen=True, slots=True)
class RotationRead(Event):
    file: str
    entries: tuple[Entry, ...]
    rows: tuple[TimelineRow, ...] = ()
    """Its steps, newest first, as the timeline draws them."""


@dataclass(frozen=True, slots=True)
class TimelinesCompared(Event):
    """`left` and `right` name a file or a checkpoint; entries that only one side has, and the token difference."""

    left: str
    right: str
    common: int
    only_left: tuple[Entry, ...]
    only_right: tuple[Entry, ...]
    tokens: int
