"""Where time has gone: the sidebar's rows, jumps, and what going back would take along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SwitchWhy = Literal[
    "revert",
    "dmail",
    "compact",
    "clear",
    "prepend",
    "restore",
    "undo",
    "redo",
    "repair",
    "prune",
    "foreign",
]
"""Why one timeline took the place of another."""


@dataclass(frozen=True, slots=True)
class SwitchView:
    """A jump between timelines, as the timeline and the notes in the chat draw it."""

    why: SwitchWhy
    file: str
    """The rotation that the jump left behind: `context_3.jsonl`."""
    at: float | None = None
    from_checkpoint: int | None = None
    to_checkpoint: int | None = None
    messages_before: int = 0
    messages_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    note: str = ""
    """The D-Mail's text, the head of the summary, the user's carry-over note."""


RowKind = Literal["checkpoint", "switch", "rotation"]


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One row of the sidebar. `file` is None for the live timeline, else the rotation that holds the row."""

    kind: RowKind
    checkpoint: int | None = None
    file: str | None = None
    label: str = ""
    """What the step did (`ran pytest`), or the prompt for a step that opens a turn."""
    turn: bool = False
    tokens: int | None = None
    """Tokens that the step added (checkpoint) or freed (switch, negative); None while unknown."""
    exact: bool = False
    messages: int = 0
    """Messages of the step, or of the whole file for a rotation."""
    size: int = 0
    at: float | None = None
    depth: int = 0
    """Column of the branch: 0 for the live timeline."""
    name: str = ""
    """The user's own name for the checkpoint."""
    switch: SwitchView | None = None
    offset: int = 0
    """Where the checkpoint record starts in its file: ids can repeat, offsets cannot."""
    undoable: bool = False


@dataclass(frozen=True, slots=True)
class RevertPreview:
    """What would go if the user went back to this checkpoint."""

    checkpoint: int | None
    file: str | None
    steps: int = 0
    messages: int = 0
    tokens: int = 0
    """What the gauge would fall by; negative where it would rise, as it can for a rotation."""
    tool_calls: int = 0
    files: tuple[FileTouched, ...] = ()
    tasks: tuple[str, ...] = ()
    """Background tasks that were started after the point and still run."""
    prompt: str = ""
    """The prompt that would come back into the input."""
    restorable: bool = False
    """The files can be put back too: `RevertTo.files`."""
    first_dropped: int | None = None
    """Index of the first chat entry that would go."""


FileFate = Literal["", "rewritten", "deleted", "recreated"]
"""What putting files back would do to one of them; empty when that is not known."""


@dataclass(frozen=True, slots=True)
class FileTouched:
    path: str
    changed_since: bool | None = None
    """Whether the disk differs from what the agent last wrote; None when unknown. Such a file is only put back when
    `RevertTo.overwrite` names it."""
    change: FileFate = ""
    stays: str = ""
    """Why it cannot be put back at all, whatever is chosen."""
