"""A session, how it stands, and the model it talks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands unsent in the prompt: its text as it is shown, and what its tags stand for."""

    text: str = ""
    pastes: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    """Data URLs."""


@dataclass(frozen=True, slots=True)
class ModelView:
    name: str
    """What the user calls it: `local`, `kimi`, `moonshot/kimi-k2`."""
    window: int = 0
    embedded: bool = False
    tools: bool = True
    vision: bool = False
    about: str = ""
    """For embedded models: what it can and cannot do, and how to connect a provider."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session in the picker."""

    path: str
    id: str
    title: str
    work_dir: str
    at: float
    size: int = 0
    messages: int | None = None
    foreign: bool = False
    """Made by kimi-cli and not opened here yet."""
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Modes:
    plan: bool = False
    yolo: bool = False
    afk: bool = False


@dataclass(frozen=True, slots=True)
class TodoItem:
    title: str
    status: Literal["pending", "in_progress", "done"]


@dataclass(frozen=True, slots=True)
class Completion:
    """One candidate for `/` or `@`."""

    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    usage: str = ""
    help: str = ""
    aliases: tuple[str, ...] = field(default=())
    turns: bool = False
    """It starts a turn or a flow, whose end can be waited for."""
