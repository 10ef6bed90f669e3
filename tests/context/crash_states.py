"""Builds the states that a power cut may leave, from a recording of what was asked of the disk.

What was not synced may be there, be gone, be torn, or be a stretch of NULs of the right length. Names in a folder
that was not synced may be there or not, in the order they were made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.context.faulty_disk import CountingDisk

KEPT, GONE, TORN, NULS = "kept", "gone", "torn", "nuls"


@dataclass
class Inode:
    """A file's bytes: those that are safe, and writes that are still on their way."""

    safe: bytes = b""
    waiting: list[bytes] = field(default_factory=list)

    def content(self, fate: str) -> bytes:
        late = b"".join(self.waiting)
        return self.safe + {KEPT: late, GONE: b"", TORN: late[: len(late) // 2], NULS: b"\0" * len(late)}[fate]


class RecordingDisk(CountingDisk):
    """Does what it is asked and remembers it."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, tuple[Any, ...]]] = []

    def _entered(self, name: str, *args: Any) -> Any:
        before = os.fstat(args[1]).st_size if name == "copy" else 0
        path = str(Path(f"/proc/self/fd/{args[0]}").readlink()) if name in ("write", "truncate", "sync") else ""
        result = super()._entered(name, *args)
        if name == "open":
            self.log.append(("open", (Path(args[0]), bool(args[1] & os.O_TRUNC))))
        elif name == "write":
            self.log.append(("write", (Path(path), bytes(args[1])[:result])))
        elif name == "copy":
            data = os.pread(args[1], result, before)
            self.log.append(("write", (Path(f"/proc/self/fd/{args[1]}").readlink(), data)))
        elif name in ("truncate", "sync"):
            self.log.append((name, (Path(path), *args[1:])))
        elif name in ("link", "replace", "unlink", "sync_folder"):
            self.log.append((name, args))
        return result


class Model:
    """A folder as a careless file system holds it."""

    def __init__(self, folder: Path) -> None:
        files = {path: Inode(path.read_bytes()) for path in folder.iterdir() if path.is_file()}
        self.safe_names = dict(files)
        self.name_changes: list[tuple[str, tuple[Path, ...], Inode | None]] = []
        self.names = dict(files)

    def apply(self, name: str, args: tuple[Any, ...]) -> None:
        getattr(self, f"_{name}")(*args)

    def _open(self, path: Path, truncate: bool) -> None:
        if path not in self.names or truncate:
            self._name("make", (path,), Inode())

    def _write(self, path: Path, data: bytes) -> None:
        self.names[path].waiting.append(data)

    def _truncate(self, path: Path, size: int) -> None:
        inode = self.names[path]
        inode.safe, inode.waiting = inode.content(KEPT)[:size], []

    def _sync(self, path: Path) -> None:
        inode = self.names[path]
        inode.safe, inode.waiting = inode.content(KEPT), []

    def _sync_folder(self, folder: Path) -> None:
        self.safe_names, self.name_changes = dict(self.names), []

    def _link(self, source: Path, target: Path) -> None:
        self._name("link", (source, target), self.names[source])

    def _replace(self, source: Path, target: Path) -> None:
        self._name("replace", (source, target), self.names[source])

    def _unlink(self, path: Path) -> None:
        self._name("unlink", (path,), None)

    def _name(self, kind: str, paths: tuple[Path, ...], inode: Inode | None) -> None:
        self.name_changes.append((kind, paths, inode))
        _rename(self.names, kind, paths, inode)

    def states(self) -> Iterator[dict[Path, bytes]]:
        """Every folder that the cut may leave: name → bytes."""
        for count in range(len(self.name_changes) + 1):
            names = dict(self.safe_names)
            for change in self.name_changes[:count]:
                _rename(names, *change)
            for fate in (KEPT, GONE, TORN, NULS):
                yield {path: inode.content(fate) for path, inode in names.items()}


def _rename(names: dict[Path, Inode], kind: str, paths: tuple[Path, ...], inode: Inode | None) -> None:
    if kind == "replace":
        names.pop(paths[0], None)
    if inode is None:
        names.pop(paths[-1], None)
    else:
        names[paths[-1]] = inode
