"""Whether a session is so small that it is opened on the spot, before a thread would have begun."""

from __future__ import annotations

import os
from pathlib import Path

from kimi_tui.context.disk import read_at

FEW_BYTES = 2 << 20
"""Of all files of the session together: more than this is never read."""

FEW_LINES = 2000
"""They take a few milliseconds, whatever is in them."""

_HEAD = 16 << 10
"""Bytes that tell how long the lines are."""


def is_quick(live: Path) -> bool:
    """Looks at the sizes of the files and at how the live one begins. False when in doubt, or when nothing is there:
    bringing something back may wait for the disk."""
    try:
        with os.scandir(live.parent) as entries:
            sizes = {entry.name: entry.stat().st_size for entry in entries}
        size = sizes.get(live.name, 0)
        return size > 0 and sum(sizes.values()) <= FEW_BYTES and _lines(live, size) <= FEW_LINES
    except OSError:
        return False


def _lines(live: Path, size: int) -> int:
    """About how many the file has."""
    fd = os.open(live, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        head = read_at(fd, _HEAD, 0)
    finally:
        os.close(fd)
    return head.count(b"\n") * size // max(1, len(head))
