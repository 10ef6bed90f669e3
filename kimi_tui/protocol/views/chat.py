"""One block of the chat, with the tool call that it may tell about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.views.timeline import SwitchView

EntryKind = Literal["user", "assistant", "thinking", "tool", "summary", "dmail", "injection", "note", "error"]
"""`summary` is what a compaction left, `dmail` a letter from the future, `injection` a reminder that was added
for the model, `note` something about time itself (a jump, a compaction), `error` a fault with what to do."""

Outcome = Literal["running", "ok", "error", "rejected", "interrupted", "timeout"]


@dataclass(frozen=True, slots=True)
class DiffView:
    """A change to one file, as the approval and the tool card draw it."""

    path: str
    before: str
    after: str
    first_line: int = 1
    """Number of the first line of both sides: equal lines far from the change are left out."""


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool call and, once there is one, its result."""

    call_id: str
    name: str
    verb: str
    """What the row says in grey: `Read`, `Shell`, `Edit` …"""
    subject: str
    """What the row says in the text colour: a path, a command, a pattern."""
    arguments: str = ""
    """The arguments as JSON text, for the unfolded card."""
    outcome: Outcome = "running"
    brief: str = ""
    """A few words about the result: `214 lines`, `exit 1`."""
    output: str = ""
    seconds: float | None = None
    diffs: tuple[DiffView, ...] = ()
    images: int = 0
    """How many came with the result."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One block of the chat. The chat is a list of these and nothing else."""

    kind: EntryKind
    text: str = ""
    tool: ToolView | None = None
    images: tuple[str, ...] = ()
    """Captions of attached images, e.g. `screenshot.png 1280×720`."""
    checkpoint: int | None = None
    """The checkpoint that stands right before this entry's step; to revert there is to take the entry back."""
    turn: bool = False
    """A user entry that opened a turn (not a steer)."""
    switch: SwitchView | None = None
    """For `note`, `summary` and `dmail`: the jump that the entry tells about."""
    at: float | None = None
    seconds: float | None = None
    """How long thinking or answering took."""
    pinned: bool = False
    """Compactions keep its message word for word."""
