"""What a crash in the middle of a switch leaves behind, and how it goes away. Needs the lock."""

from __future__ import annotations

import contextlib

from kimi_tui.context.disk import Disk
from kimi_tui.context.paths import Paths


def clean_up(paths: Paths, disk: Disk) -> None:
    """Removes unfinished files, and rotations that are still the live file (the switch did not happen)."""
    if not paths.folder.is_dir():
        return
    for stray in paths.stray():
        with contextlib.suppress(OSError):
            disk.unlink(stray)
    _drop_second_names(paths, disk)


def _drop_second_names(paths: Paths, disk: Disk) -> None:
    try:
        live = paths.live.stat()
    except OSError:
        return
    if live.st_nlink < 2:
        return
    for number in paths.numbers():
        rotation = paths.rotation(number)
        with contextlib.suppress(OSError):
            if rotation.samefile(paths.live):
                disk.unlink(rotation)
