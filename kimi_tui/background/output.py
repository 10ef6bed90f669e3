"""The newest part of a task's output."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SHOWN = 32_000
"""Bytes of a task's output that are shown at once."""


@dataclass(frozen=True, slots=True)
class Tail:
    """`text` is what the file ends with; not cleaned of control codes."""

    text: str = ""
    size: int = 0
    """Bytes of the whole file."""
    cut: bool = False
    """There is more before."""


def read_from(path: str | Path, start: int, limit: int) -> str:
    """What stands from that byte on, at most `limit` bytes of it; nothing without a file."""
    try:
        with Path(path).open("rb") as file:
            file.seek(start)
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def read_tail(path: str | Path, limit: int = SHOWN) -> Tail:
    """The last `limit` bytes, from the beginning of a line where one begins within them; nothing without a file."""
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - limit)
            file.seek(start)
            data = file.read(limit)
    except OSError:
        return Tail()
    if start:
        data = data.partition(b"\n")[2] or data.lstrip(bytes(range(0x80, 0xC0)))
    return Tail(data.decode("utf-8", "replace"), size, start > 0)
