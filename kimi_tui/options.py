"""What the command line decided, as plain values: light enough to be read before the first frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """One start of the program. None means «not said on the command line»."""

    prompt: str | None = None
    continue_last: bool = False
    resume: str | None = None
    """A session id; the empty string asks for the picker."""
    session: Path | None = None
    """A session folder to work in, in place."""
    work_dir: Path = field(default_factory=Path.cwd)
    add_dirs: tuple[Path, ...] = ()
    model: str | None = None
    api_base: str | None = None
    context_window: int | None = None
    yolo: bool = False
    afk: bool = False
    plan: bool = False
    max_ralph_iterations: int | None = None
    max_steps: int | None = None
    config_file: Path | None = None
    headless: bool = False
    """Print mode: no screen, nobody to ask."""


@dataclass(frozen=True, slots=True)
class UiOptions:
    """The `[ui]` table of the config."""

    theme: str = ""
    """Empty: follow the terminal (`NO_COLOR` honoured)."""
    plain: bool = False
    ascii: bool = False
    notifications: bool = True
    images: str = "auto"
    """How pictures are shown: `kitty` (by the terminal itself), `blocks`, `off`; `auto` finds out."""
    keys: dict[str, str] = field(default_factory=dict)
    """Action name → key."""
