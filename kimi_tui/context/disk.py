"""The system calls that change a session's files, one thin method each, so that a test can stand in their way."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

NEW_FILE_MODE = 0o600
"""Conversations hold secrets: a file made by us is for its owner alone."""

_COPY_BLOCK = 8 << 20


class Disk:
    """The real disk. Every method is one step that may fail, or be the last one before a crash."""

    def open(self, path: Path, flags: int, mode: int = NEW_FILE_MODE) -> int:
        """May create the file (`flags` with `O_CREAT`)."""
        return os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def chmod(self, path: Path, mode: int) -> None:
        path.chmod(mode)

    def copy(self, source: int, target: int, start: int, stop: int) -> int:
        """Copies some bytes of `source[start:stop]` to where `target` stands; returns how many."""
        size = min(stop - start, _COPY_BLOCK)
        if hasattr(os, "copy_file_range"):
            try:
                return os.copy_file_range(source, target, size, start)
            except OSError as error:
                if error.errno not in _NO_RANGE_COPY:
                    raise
        return self.write(target, read_at(source, size, start))

    def sync(self, fd: int) -> None:
        """The bytes of the file, and its length, survive a power cut."""
        getattr(os, "fdatasync", os.fsync)(fd)

    def sync_folder(self, folder: Path) -> None:
        """The names in the folder survive a power cut."""
        if os.name != "posix":
            return
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def mkdir(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _errnos(*names: str) -> frozenset[int]:
    return frozenset(getattr(errno, name) for name in names if hasattr(errno, name))


_NO_RANGE_COPY = _errnos("ENOSYS", "EXDEV", "EINVAL", "EOPNOTSUPP", "ENOTSUP", "EBADF", "EPERM")
NO_HARD_LINKS = _errnos("EPERM", "EOPNOTSUPP", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV", "EACCES")


def append_only(fd: int) -> int:
    """From now on every write goes to the end, wherever that is. (A file opened so takes no range copies.)"""
    if sys.platform != "win32":
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd


def read_at(fd: int, size: int, offset: int) -> bytes:
    """Up to `size` bytes from `offset`; shorter only at the end of the file."""
    if hasattr(os, "pread"):
        return os.pread(fd, size, offset)
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, size)


def read_exactly(fd: int, start: int, stop: int) -> bytes:
    """`file[start:stop]`; raises `EOFError` when the file is shorter."""
    pieces = []
    while start < stop:
        piece = read_at(fd, stop - start, start)
        if not piece:
            raise EOFError(f"the file ends at byte {start}")
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)
