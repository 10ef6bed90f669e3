"""The bytes of a timeline. The live file only ever changes by one append of whole records, or by a rename of a
complete new file over it; this is the only module that opens it for writing."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kimi_tui.context.disk import NEW_FILE_MODE, NO_HARD_LINKS, Disk, append_only
from kimi_tui.context.paths import Paths

Durability = Literal["step", "always", "off"]
State = Literal["ours", "new", "grown", "replaced", "missing"]


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a file, to be copied into a new one."""

    path: Path | None
    """None: the live file as we hold it, even if its name is gone."""
    start: int
    stop: int


Piece = bytes | Span


class Log:
    """The live file of a session, held open. Not thread-safe: its owner calls one method at a time."""

    def __init__(self, paths: Paths, disk: Disk, durability: Durability) -> None:
        self.paths = paths
        self.size = 0
        """Bytes that we know of."""
        self.generation = 0
        """Grows when another file takes the live one's place. (Inode numbers come back.)"""
        self._disk = disk
        self.durability = durability
        self._fd: int | None = None
        self._unsynced = False
        self._name_unsynced = False

    @property
    def is_open(self) -> bool:
        return self._fd is not None

    def open(self) -> None:
        """Opens the file for appending, and makes it when it is not there. `size` stays what is known of it."""
        if self._fd is not None:
            return
        self._name_unsynced = not self.paths.live.exists()
        self._fd = self._disk.open(self.paths.live, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            self.close()
            raise IsADirectoryError(f"{self.paths.live} is not a regular file")

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def state(self) -> State:
        """Whether the name still leads to the file that we know, at the size that we know."""
        try:
            named = self.paths.live.stat()
        except FileNotFoundError:
            return "new" if self._fd is None else "missing"
        if self._fd is not None:
            held = os.fstat(self._fd)
            if (held.st_ino, held.st_dev) != (named.st_ino, named.st_dev) or held.st_size < self.size:
                return "replaced"
        if named.st_size == self.size:
            return "ours"
        return "grown" if named.st_size > self.size else "replaced"

    def append(self, data: bytes, *, sync: bool = False) -> bool:
        """All of `data` or nothing. Raises `OSError`; then the file is as it was.

        False when somebody else's records came in between: `size` still ends before those, and before `data`."""
        self.open()
        assert self._fd is not None
        written = 0
        try:
            while written < len(data):
                written += self._disk.write(self._fd, memoryview(data)[written:] if written else data)
            self._unsynced = True
            if self.durability == "always" or (sync and self.durability != "off"):
                self.sync()
        except OSError:
            self._take_back(written)
            raise
        if os.lseek(self._fd, 0, os.SEEK_CUR) != self.size + len(data):
            return False
        self.size += len(data)
        return True

    def _take_back(self, written: int) -> None:
        """Cuts off what a failed append has written, unless somebody else has written since."""
        assert self._fd is not None
        stop = os.lseek(self._fd, 0, os.SEEK_CUR)
        start = stop - written if written else self.size
        with contextlib.suppress(OSError):
            if start < stop == os.fstat(self._fd).st_size:
                self._disk.truncate(self._fd, start)

    def sync(self) -> None:
        """What was appended survives a power cut."""
        if self._fd is None or self.durability == "off":
            return
        if self._unsynced:
            self._disk.sync(self._fd)
            self._unsynced = False
        if self._name_unsynced:
            self._disk.sync_folder(self.paths.folder)
            self._name_unsynced = False

    def switch(
        self, pieces: Sequence[Piece], *, keep_old: bool, announce: Callable[[str], None], above: int = 0
    ) -> str | None:
        """Puts a file made of the pieces in the live one's place; returns the rotation's name, None if there is none.

        The rotation's number is higher than `above` and than all that are there; `announce` is told its name right
        before the old file gets it, and may refuse. Raises `OSError`; then the live file is as it was. The rename is
        the moment of truth: after it nothing raises.
        """
        new = self.paths.new(os.getpid())
        rotation: Path | None = None
        try:
            size, fd = self._build(new, pieces)
            try:
                if keep_old:
                    rotation = self._rotate(announce, above)
                self._disk.replace(new, self.paths.live)
            except BaseException:
                os.close(fd)
                raise
        except BaseException:
            self._undo_rotation(new, rotation)
            raise
        self._adopt(fd, size)
        return rotation.name if rotation else None

    def take(self, source: Path, *, announce: Callable[[str], None], above: int) -> str:
        """Makes a rotation the live file, as `switch` does with a new one. Copies nothing; raises as `switch` does."""
        fd = self._disk.open(source, os.O_RDWR)
        rotation: Path | None = None
        try:
            if stat.S_IMODE(os.fstat(fd).st_mode) != self._mode():
                self._disk.chmod(source, self._mode())
            if self.durability != "off":
                self._disk.sync(fd)
            rotation = self._rotate(announce, above)
            self._disk.replace(source, self.paths.live)
        except BaseException:
            os.close(fd)
            if rotation is not None:
                self._remove(rotation)
            raise
        self._adopt(append_only(fd), os.fstat(fd).st_size)
        return rotation.name

    def _build(self, new: Path, pieces: Sequence[Piece]) -> tuple[int, int]:
        fd = self._disk.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        try:
            for piece in pieces:
                if isinstance(piece, bytes):
                    self._write_all(fd, piece)
                else:
                    self._copy(fd, piece)
            self._disk.chmod(new, self._mode())
            if self.durability != "off":
                self._disk.sync(fd)
            return os.fstat(fd).st_size, append_only(fd)
        except BaseException:
            os.close(fd)
            raise

    def _write_all(self, fd: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._disk.write(fd, rest) :]

    def _copy(self, target: int, span: Span) -> None:
        if span.path is None:
            assert self._fd is not None
            self._copy_range(self._fd, target, span)
            return
        source = os.open(span.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            self._copy_range(source, target, span)
        finally:
            os.close(source)

    def _copy_range(self, source: int, target: int, span: Span) -> None:
        start = span.start
        while start < span.stop:
            copied = self._disk.copy(source, target, start, span.stop)
            if copied == 0:
                raise EOFError(f"the file to copy ends at byte {start}")
            start += copied

    def _mode(self) -> int:
        try:
            return stat.S_IMODE(self.paths.live.stat().st_mode)
        except FileNotFoundError:
            return NEW_FILE_MODE

    def _rotate(self, announce: Callable[[str], None], above: int) -> Path:
        number = max([above, *self.paths.numbers()]) + 1
        while True:
            rotation = self.paths.rotation(number)
            announce(rotation.name)
            try:
                self._second_name(rotation)
            except FileExistsError:
                number += 1
                continue
            return rotation

    def _second_name(self, rotation: Path) -> None:
        try:
            self._disk.link(self.paths.live, rotation)
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            self._copy_whole(rotation)

    def _copy_whole(self, rotation: Path) -> None:
        """For file systems without hard links. The empty file that reserves the name is replaced at once."""
        os.close(self._disk.open(rotation, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        copy = self.paths.new(os.getpid()).with_suffix(".copy")
        try:
            _, fd = self._build(copy, [Span(self.paths.live, 0, self.paths.live.stat().st_size)])
            os.close(fd)
            self._disk.replace(copy, rotation)
        except BaseException:
            self._remove(copy)
            self._remove(rotation)
            raise

    def _undo_rotation(self, new: Path, rotation: Path | None) -> None:
        if rotation is not None:
            self._remove(rotation)
        self._remove(new)

    def _remove(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            self._disk.unlink(path)

    def _adopt(self, fd: int, size: int) -> None:
        self.close()
        self._fd, self.size = fd, size
        self.generation += 1
        self._unsynced, self._name_unsynced = False, False
        if self.durability != "off":
            try:
                self._disk.sync_folder(self.paths.folder)
            except OSError:
                self._name_unsynced = True
