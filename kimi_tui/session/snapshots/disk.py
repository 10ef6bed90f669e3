"""The work tree itself: what stands at a path, and putting something else there. Never leaves the folder by a link."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from pathlib import Path

from kimi_tui.session.snapshots.scan import names_git
from kimi_tui.session.snapshots.values import FILE, FOLDER, LINK, PROGRAM, Held


class WorkTree:
    """All paths are relative to `root`."""

    def __init__(self, root: Path, file_bytes: int = 64 << 20) -> None:
        """Content of files larger than `file_bytes` is not looked at: it is never what was recorded."""
        self.root, self._file_bytes = root, file_bytes

    def held(self, path: str) -> Held | None:
        """What stands there; None for nothing, for a folder with something in it, and for what lies behind a link."""
        where = self._inside(path)
        if where is None:
            return None
        try:
            about = where.lstat()
            if stat.S_ISLNK(about.st_mode):
                return Held(LINK, name_of(_target(where)))
            if stat.S_ISREG(about.st_mode):
                mode = PROGRAM if about.st_mode & stat.S_IXUSR else FILE
                large = about.st_size > self._file_bytes
                return Held(mode, "" if large else name_of(where.read_bytes()), stat.S_IMODE(about.st_mode))
            if stat.S_ISDIR(about.st_mode):
                return None if any(os.scandir(where)) else Held(FOLDER)
        except OSError:
            return None
        return Held("", "something else")

    def write(self, path: str, held: Held, data: bytes) -> None:
        """Put a file or a link there, in one step. Raises OSError."""
        where = self._make_room(path)
        new = where.with_name(f".{secrets.token_hex(6)}.kimi-tui")
        try:
            if held.mode == LINK:
                new.symlink_to(os.fsdecode(data))
            else:
                perm = held.perm if held.perm is not None else 0o644
                with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(data)
                new.chmod(perm)
            new.replace(where)
        except BaseException:
            new.unlink(missing_ok=True)
            raise

    def remove(self, path: str, keep: frozenset[str]) -> None:
        """Take away a file or a link, and the folders that it leaves empty but for `keep`. Raises OSError."""
        where = self._inside(path)
        if where is None:
            raise NotADirectoryError(f"{path} lies behind a link")
        where.unlink()
        self._drop_empty(where.parent, keep)

    def make_folder(self, path: str) -> None:
        """Raises OSError."""
        self._make_room(path + "/")

    def drop_folder(self, path: str, keep: frozenset[str]) -> None:
        """Only if it is empty; those that it leaves empty go too."""
        where = self._inside(path)
        if where is not None:
            self._drop_empty(where, keep)

    def _drop_empty(self, folder: Path, keep: frozenset[str]) -> None:
        while folder != self.root and folder.relative_to(self.root).as_posix() not in keep:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _inside(self, path: str) -> Path | None:
        """The place, if every folder on the way there is one."""
        _check(path)
        where = self.root
        for part in path.split("/")[:-1]:
            where /= part
            try:
                if not stat.S_ISDIR(where.lstat().st_mode):
                    return None
            except OSError:
                return None
        return self.root / path

    def _make_room(self, path: str) -> Path:
        """The place, with all folders on the way made. Raises OSError where something else is in the way."""
        _check(path.rstrip("/"))
        where = self.root
        for part in path.split("/")[:-1]:
            where /= part
            with contextlib.suppress(FileExistsError):
                where.mkdir()
            if not stat.S_ISDIR(where.lstat().st_mode):
                raise NotADirectoryError(f"{where} is in the way")
        return self.root / path


def name_of(data: bytes) -> str:
    """The name under which git records this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _target(link: Path) -> bytes:
    return os.fsencode(os.readlink(link))  # noqa: PTH115  # `Path` would tidy the target up: other bytes


def _check(path: str) -> None:
    parts = path.split("/")
    if names_git(path) or any(part in ("", ".", "..") for part in parts) or Path(path).is_absolute():
        raise ValueError(f"{path} is not a path inside the work folder")
