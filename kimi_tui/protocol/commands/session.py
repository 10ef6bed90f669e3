"""The session, its modes and its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.commands.base import Command
from kimi_tui.protocol.views.session import Draft


@dataclass(frozen=True, slots=True)
class LoadEntries(Command):
    """Answered by `EntriesLoaded`: chat entries `start … stop`."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class LoadImages(Command):
    """Answered by `ImagesLoaded`: what is attached to the chat entry, or what its tool has brought."""

    index: int


@dataclass(frozen=True, slots=True)
class NewSession(Command):
    pass


@dataclass(frozen=True, slots=True)
class OpenSession(Command):
    path: str


@dataclass(frozen=True, slots=True)
class ListSessions(Command):
    """Answered by `SessionsListed`."""


@dataclass(frozen=True, slots=True)
class RemoveSession(Command):
    path: str


@dataclass(frozen=True, slots=True)
class Fork(Command):
    """Continues in a copy of the session; with a checkpoint, from right before it; with a file, in that rotation."""

    checkpoint: int | None = None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class SetTitle(Command):
    title: str
    path: str = ""
    """Another session than the open one (from the picker)."""


@dataclass(frozen=True, slots=True)
class SetMode(Command):
    mode: Literal["plan", "yolo", "afk"]
    on: bool


@dataclass(frozen=True, slots=True)
class ListModels(Command):
    """Answered by `ModelsListed`."""


@dataclass(frozen=True, slots=True)
class SwitchModel(Command):
    name: str


@dataclass(frozen=True, slots=True)
class AddDir(Command):
    path: str


@dataclass(frozen=True, slots=True)
class KeepDraft(Command):
    """What stands unsent in the prompt now, kept over a restart; an empty one is forgotten."""

    draft: Draft


@dataclass(frozen=True, slots=True)
class Close(Command):
    """Ends the agent: stops what runs, closes the files, answers with `Closed`."""
