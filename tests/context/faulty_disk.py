"""Disks that stand in the way: they die, refuse, or tear a write at a chosen system call."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from kimi_tui.context.disk import Disk

MUTATING = ("open", "write", "truncate", "chmod", "copy", "sync", "sync_folder", "link", "replace", "unlink", "mkdir")


class CountingDisk(Disk):
    """Calls `before(k)` on entry to the k-th call that may change something, counted from 1."""

    def __init__(self) -> None:
        self.calls = 0
        self.names: list[str] = []

    def before(self, name: str, args: tuple[Any, ...]) -> None:
        """What happens on entry to a call."""

    def _entered(self, name: str, *args: Any) -> Any:
        self.calls += 1
        self.names.append(name)
        self.before(name, args)
        return getattr(super(), name)(*args)

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return self._entered("open", path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return self._entered("write", fd, data)

    def truncate(self, fd: int, size: int) -> None:
        return self._entered("truncate", fd, size)

    def chmod(self, path: Path, mode: int) -> None:
        return self._entered("chmod", path, mode)

    def copy(self, source: int, target: int, start: int, stop: int) -> int:
        return self._entered("copy", source, target, start, stop)

    def sync(self, fd: int) -> None:
        return self._entered("sync", fd)

    def sync_folder(self, folder: Path) -> None:
        return self._entered("sync_folder", folder)

    def link(self, source: Path, target: Path) -> None:
        return self._entered("link", source, target)

    def replace(self, source: Path, target: Path) -> None:
        return self._entered("replace", source, target)

    def unlink(self, path: Path) -> None:
        return self._entered("unlink", path)

    def mkdir(self, folder: Path) -> None:
        return self._entered("mkdir", folder)


class DyingDisk(CountingDisk):
    """The process ends at the k-th call: before it, or, torn, with half of a write done."""

    def __init__(self, at: int, *, torn: bool = False) -> None:
        super().__init__()
        self.at, self.torn = at, torn

    def before(self, name: str, args: tuple[Any, ...]) -> None:
        if self.calls == self.at:
            if self.torn and name == "write":
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            os._exit(9)


class RefusingDisk(CountingDisk):
    """The k-th call fails, or every call from the k-th on; torn: a write does half of its work first."""

    def __init__(self, at: int, *, number: int = errno.ENOSPC, torn: bool = False, for_ever: bool = False) -> None:
        super().__init__()
        self.at, self.number, self.torn, self.for_ever = at, number, torn, for_ever
        self.healed = False
        self.refused = False

    def before(self, name: str, args: tuple[Any, ...]) -> None:
        if self.healed or not (self.calls == self.at or (self.for_ever and self.calls > self.at)):
            return
        self.refused = True
        if self.torn and name == "write" and self.calls == self.at:
            os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
        raise OSError(self.number, os.strerror(self.number))


class NoLinkDisk(Disk):
    """A file system without hard links."""

    def link(self, source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "no hard links here")
