"""A session was opened, reset or changed; what concerns no turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.chat import Entry
from kimi_tui.protocol.views.session import Draft, ModelView, Modes, SessionView, SlashCommand
from kimi_tui.protocol.views.timeline import SwitchView, TimelineRow
from kimi_tui.protocol.views.tokens import Tokens


@dataclass(frozen=True, slots=True)
class SessionOpened(Event):
    """Always the first event; again after `NewSession`, `OpenSession` and `Fork`. Followed by `TranscriptReset`."""

    session_id: str
    path: str
    work_dir: str
    title: str
    model: ModelView
    modes: Modes
    branch: str = ""
    read_only: str = ""
    """Why nothing can be written, naming who holds the session; empty when it is ours."""
    notices: tuple[str, ...] = ()
    """What was noticed while opening: repaired lines, damaged records kept, a recovery after a crash."""
    commands: tuple[SlashCommand, ...] = ()
    history: tuple[str, ...] = ()
    """Earlier prompts of this folder, oldest first."""
    draft: Draft = field(default_factory=Draft)
    """What stood unsent in the prompt when the session was last open."""
    resume_hint: str = ""
    """The command that opens this session again; printed at exit. Empty while nothing is worth resuming."""


@dataclass(frozen=True, slots=True)
class TranscriptReset(Event):
    """The chat is now this. `entries` are the last ones of `total`; earlier ones come by `LoadEntries`."""

    total: int
    entries: tuple[Entry, ...]
    timeline: tuple[TimelineRow, ...]
    """Newest first, the whole tree."""
    tokens: Tokens
    switch: SwitchView | None = None
    """The jump that caused the reset, None when a session was opened."""
    prompt: str | None = None
    """A prompt to put back into the input: the one that a revert took back."""
    undo: str = ""
    """What `Undo` would take back now, in words; empty when nothing."""
    redo: str = ""


@dataclass(frozen=True, slots=True)
class EntriesLoaded(Event):
    start: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class ImagesLoaded(Event):
    """The images of one chat entry, as data URLs; what is only a link is left to the captions."""

    index: int
    images: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntriesChanged(Event):
    """Stored entries look different now (pinned, unpinned): these take their places from `start` on."""

    start: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class TitleChanged(Event):
    title: str


@dataclass(frozen=True, slots=True)
class ModesChanged(Event):
    modes: Modes
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BranchChanged(Event):
    branch: str


@dataclass(frozen=True, slots=True)
class CommandsChanged(Event):
    """The session's own slash commands are these now: skills and flows came, changed or went."""

    commands: tuple[SlashCommand, ...]


@dataclass(frozen=True, slots=True)
class SessionsListed(Event):
    sessions: tuple[SessionView, ...]


@dataclass(frozen=True, slots=True)
class Noticed(Event):
    """One line for the user: a toast."""

    text: str
    severity: Literal["information", "warning", "error"] = "information"
    action: Literal["", "undo"] = ""
    """A key offered with the toast."""


@dataclass(frozen=True, slots=True)
class Settled(Event):
    """All that a command led to has been told, be it done or refused. Only of those that are carried out beside the
    inbox: what starts a turn, a compaction or a flow ends with their own events."""

    command: str
    """The name of its class."""


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """The agent itself broke. Nothing on disk is lost; the screen stays."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Closed(Event):
    """The last event of all."""

    resume_hint: str = ""
