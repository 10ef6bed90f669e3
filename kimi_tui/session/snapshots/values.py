"""What snapshots are made of. Paths are relative to the work dir, with `/`, undecodable bytes as lone surrogates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

FILE, PROGRAM, LINK, FOLDER, REPOSITORY = "100644", "100755", "120000", "040000", "160000"
"""Modes of tree entries, as git writes them. A folder is only recorded where it holds nothing else."""

ChangeKind = Literal["added", "modified", "deleted", "mode", "link", "folder"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is recorded. Beyond the last three, snapshots of that folder are off."""

    file_bytes: int = 5 << 20
    """Larger files are left out, and named."""
    files: int = 100_000
    total_bytes: int = 2 << 30
    seconds: float = 60.0
    """For one call of git."""


@dataclass(frozen=True, slots=True)
class Held:
    """What stands at one path."""

    mode: str
    oid: str = ""
    """Name of the content; empty for a folder."""
    perm: int | None = None
    """Permission bits; None for links and folders."""


@dataclass(frozen=True, slots=True)
class Change:
    """One path in two snapshots; at least one side is there."""

    path: str
    before: Held | None
    after: Held | None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change as it is shown."""

    path: str
    kind: ChangeKind
    """`mode`: the same content with other permissions; `link`: either side is a symbolic link; `folder`: an empty
    folder came or went."""
    size_before: int | None = None
    """Bytes; None where there is nothing."""
    size_after: int | None = None
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The work tree at one moment. Equal ids are equal trees, down to permissions and empty folders."""

    id: str
    skipped: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Files that are not in it, and why. No restore ever touches them."""
    changed: bool = True
    """Differs from the snapshot taken before it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A path that a restore left alone."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What a restore did. `before` and `after` are the work tree on either side of it."""

    before: Snapshot
    after: Snapshot
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    conflicts: tuple[Kept, ...] = ()
    """Differ from what was recorded last: somebody else has edited them."""
    failed: tuple[Kept, ...] = ()
    """The file system refused."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What git does not record about a tree."""

    skipped: Mapping[str, str] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    perms: Mapping[str, int] = field(default_factory=dict)
    """Where they are not the usual ones."""
    usual: tuple[int, int] = (0o644, 0o755)
    """Permissions of most files, and of most programs."""

    def perm(self, path: str, mode: str) -> int | None:
        """Permissions of a path of this mode."""
        if mode not in (FILE, PROGRAM):
            return None
        return self.perms.get(path, self.usual[mode == PROGRAM])

    def encode(self) -> bytes:
        """The same notes are the same bytes."""
        body = {
            "skipped": dict(sorted(self.skipped.items())),
            "folders": sorted(self.folders),
            "perms": dict(sorted(self.perms.items())),
            "usual": self.usual,
        }
        return json.dumps(body, separators=(",", ":")).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> Notes:
        body: dict[str, Any] = json.loads(data)
        file, program = body["usual"]
        return cls(body["skipped"], frozenset(body["folders"]), body["perms"], (file, program))
