"""One writer a session: an advisory lock on a file of its own, with the holder's name inside.

The lock is never taken on the context file, since a switch puts another file in that one's place. The system drops
it when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import time
from pathlib import Path

import msgspec

from kimi_tui.context.disk import NEW_FILE_MODE


class LockHolder(msgspec.Struct, frozen=True):
    """Who writes to the session."""

    pid: int = 0
    """0 when unknown."""
    host: str = ""
    since: float = 0.0
    """Seconds since the epoch."""

    def __str__(self) -> str:
        if not self.pid:
            return "another program"
        where = f" on {self.host}" if self.host and self.host != socket.gethostname() else ""
        return f"process {self.pid}{where}"


class SessionLocked(Exception):
    """The session is open elsewhere, or is not ours to write. Nothing was changed."""

    def __init__(self, path: Path, holder: LockHolder | None = None) -> None:
        self.path = path
        self.holder = holder
        super().__init__(
            f"{path} is being written by {holder}; it is open for reading only here"
            if holder
            else f"{path} is open for reading only"
        )


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> None:
        os.lseek(fd, 1 << 30, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


_TAKEN = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
_LONGEST = 4096


class SessionLock:
    """Taken or not; `acquire` never waits."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        return self._fd is not None

    def acquire(self) -> LockHolder | None:
        """None when it is ours now, else who has it. Raises `OSError` when the file system cannot tell."""
        if self._fd is not None:
            return None
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), NEW_FILE_MODE)
        try:
            _try_lock(fd)
        except OSError as error:
            os.close(fd)
            if error.errno not in _TAKEN:
                raise
            return _read_holder(self._path)
        self._fd = fd
        self._sign(fd)
        return None

    def holder(self) -> LockHolder | None:
        """Who has it, without taking it; None when it is free. Changes nothing."""
        try:
            fd = os.open(self._path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return None
        try:
            _try_lock(fd)
        except OSError:
            return _read_holder(self._path)
        finally:
            os.close(fd)
        return None

    def _sign(self, fd: int) -> None:
        """Over the name that stands there: to empty the file first would make the disk work twice."""
        name = msgspec.json.encode(LockHolder(os.getpid(), socket.gethostname(), round(time.time(), 3))) + b"\n"
        with contextlib.suppress(OSError):
            os.lseek(fd, 0, os.SEEK_SET)
            os.write(fd, name)
            if os.fstat(fd).st_size > len(name):
                os.ftruncate(fd, len(name))

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _read_holder(path: Path) -> LockHolder:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LONGEST), type=LockHolder)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return LockHolder()
