"""Moving through time, and looking before one does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.commands.base import Command
from kimi_tui.protocol.views.rotations import PruneStep


@dataclass(frozen=True, slots=True)
class PreviewRevert(Command):
    """Answered by `RevertPreviewed`."""

    checkpoint: int | None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class PreviewFile(Command):
    """What going back there would change in one file of `RevertPreview.files`. Answered by `FilePreviewed`."""

    path: str
    checkpoint: int | None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class RevertTo(Command):
    """Goes back to right before this checkpoint; with `file`, to a point inside a rotation."""

    checkpoint: int | None
    file: str | None = None
    offset: int | None = None
    note: str = ""
    """Carried over to the earlier point, as a message from the user."""
    files: Literal["keep", "restore", "only"] = "keep"
    overwrite: tuple[str, ...] = ()
    """Files to put back although somebody else has edited them since; the others of that kind are left alone."""


@dataclass(frozen=True, slots=True)
class DraftNote(Command):
    """Has the model write a note about what `RevertTo` would take back. Nothing is stored. See `NoteDrafted`."""

    checkpoint: int | None
    file: str | None = None
    offset: int | None = None
    begun: str = ""
    """What the user has typed so far."""
    number: int = 0
    """Comes back with every answer. A new draft ends the one before."""


@dataclass(frozen=True, slots=True)
class StopDraft(Command):
    """Ends the `DraftNote` that runs, if one does."""


@dataclass(frozen=True, slots=True)
class Undo(Command):
    """Takes back the last switch of timelines, whatever made it."""


@dataclass(frozen=True, slots=True)
class Redo(Command):
    pass


@dataclass(frozen=True, slots=True)
class ClearContext(Command):
    pass


@dataclass(frozen=True, slots=True)
class NameCheckpoint(Command):
    checkpoint: int
    name: str
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class ListRotations(Command):
    """Answered by `RotationsListed`."""


@dataclass(frozen=True, slots=True)
class ReadRotation(Command):
    """Answered by `RotationRead`."""

    file: str


@dataclass(frozen=True, slots=True)
class RestoreRotation(Command):
    """Makes that whole file the live timeline; the present one becomes a rotation."""

    file: str


@dataclass(frozen=True, slots=True)
class ChangeRotation(Command):
    file: str
    change: Literal["pin", "unpin", "compress", "delete"]


@dataclass(frozen=True, slots=True)
class ProposePruning(Command):
    """What the session's budget would compress or remove; answered by `PruningProposed`, nothing is done."""


@dataclass(frozen=True, slots=True)
class PruneRotations(Command):
    """Carry out these steps of a proposal; answered by `Noticed` and `RotationsListed`."""

    steps: tuple[PruneStep, ...]


@dataclass(frozen=True, slots=True)
class ExportTimeline(Command):
    """Writes a readable copy; answered by `Noticed` with the path."""

    file: str | None = None
    format: Literal["md", "json", "html"] = "md"
    target: str = ""


@dataclass(frozen=True, slots=True)
class CompareTimelines(Command):
    """Answered by `TimelinesCompared`. A side is a rotation's name, `now`, or `now@N` / `context_2.jsonl@N`."""

    left: str
    right: str
