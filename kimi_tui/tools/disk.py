"""Putting new bytes in the place of old ones, all or nothing."""

from __future__ import annotations

import contextlib
import os
import stat
import time
import uuid
from pathlib import Path

from kimi_tui.spelling import spell
from kimi_tui.tools.paths import PathFault

_TICK = 0.01
"""Seconds that the clock of a file system may be behind."""


def replace_file(path: Path, data: bytes, expected: bytes | None) -> bool:
    """Write the file as a whole: a temporary file beside it, then a rename. The mode is kept.

    `expected` are the bytes that must still be there, None for a file that must not exist yet; else PathFault.
    Returns whether the file had further hard links, which keep the old contents. Raises OSError.
    """
    before = _unchanged(path, expected)
    if before is not None and before.st_size == len(data) and path.suffix == ".py":
        _let_a_second_pass(before)
    path.parent.mkdir(parents=True, exist_ok=True)
    spare = path.with_name(f".kimi-{uuid.uuid4().hex[:12]}.tmp")
    try:
        _write_new(spare, data, stat.S_IMODE(before.st_mode) if before else None)
        spare.replace(path)
    except PermissionError:
        _remove(spare)
        if before is None or before.st_nlink > 1 or not os.access(path, os.W_OK):
            raise
        path.write_bytes(data)  # the folder admits no new file, but this one may be written
    except BaseException:
        _remove(spare)
        raise
    return before is not None and before.st_nlink > 1


def _unchanged(path: Path, expected: bytes | None) -> os.stat_result | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        if expected is None:
            return None
        raise PathFault(f"{spell(path)} was removed meanwhile; nothing was written.") from None
    if expected is None or stat.S_ISLNK(found.st_mode) or path.read_bytes() != expected:
        raise PathFault(f"{spell(path)} was changed meanwhile by something else; read it again. Nothing was written.")
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "The file is write-protected", str(path))
    return found


def _let_a_second_pass(before: os.stat_result) -> None:
    """Python knows the source of a compiled file by its size and the second of its last change: one that is run, mended
    to the same size and run again within that second would run as it was before."""
    left = int(before.st_mtime) + 1 + _TICK - time.time()
    if 0 < left <= 1 + _TICK:
        time.sleep(left)


def _write_new(path: Path, data: bytes, mode: int | None) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
