"""The files that jumps have left behind, and what a budget would make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.views.timeline import SwitchWhy


@dataclass(frozen=True, slots=True)
class RotationView:
    """A rotated file in the browser."""

    file: str
    why: SwitchWhy | None = None
    at: float | None = None
    size: int = 0
    unique: int = 0
    """Bytes not shared with a neighbouring timeline's prefix."""
    messages: int = 0
    checkpoints: int = 0
    tokens: int = 0
    pinned: bool = False
    compressed: bool = False
    note: str = ""
    live: bool = False


@dataclass(frozen=True, slots=True)
class PruneStep:
    """What a session's budget asks for, for one rotation."""

    file: str
    change: Literal["compress", "delete"]
    size: int = 0
    """Bytes on the disk before it."""
    frees: int = 0
    """Bytes; about, where it is compressed."""
    why: SwitchWhy | None = None
    at: float | None = None
    step: Literal["", "undo", "redo"] = ""
    """Undo or redo could go there, and no more when it is deleted."""


@dataclass(frozen=True, slots=True)
class PruningView:
    """How a session stands against its budget, and what would bring it back into it."""

    steps: tuple[PruneStep, ...]
    """Oldest rotation first."""
    rotations: int
    size: int
    """Bytes on the disk, of all rotations together."""
    max_rotations: int
    max_size: int
    """Bytes."""
