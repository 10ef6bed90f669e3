"""Finds `prompts/` and `styles/`: inside the package when installed, beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """The folder of that name (`prompts`, `styles`)."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, e.g. `prompt("tools/shell")`, without the final newline."""
    return (folder("prompts") / f"{name}.md").read_text(encoding="utf-8").strip()
