"""How many rotations a session keeps: a budget, compression of the older ones, and a dry run of both."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kimi_tui.context.disk import Disk
from kimi_tui.context.journal import Entry
from kimi_tui.context.packed import SUFFIX, pack, packed_path
from kimi_tui.context.rotations import Rotation, rotations_of
from kimi_tui.context.store import Publish, Store

Change = Literal["compress", "delete"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What a session may keep. The newest three rotations and pinned ones are never touched."""

    rotations: int = 20
    size: int = 200 << 20
    """Bytes on the disk, of all rotations together."""
    compress_after: int = 5
    """So many of the newest stay uncompressed."""
    untouched: int = 3


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that the budget asks for."""

    change: Change
    rotation: Rotation

    @property
    def file(self) -> str:
        return self.rotation.file

    @property
    def size(self) -> int:
        """Bytes on the disk before it."""
        return self.rotation.size


def plan(rotations: Sequence[Rotation], budget: Budget) -> list[Proposal]:
    """What the budget asks for, oldest first: the dry run. `rotations` come newest first."""
    free = [rotation for rotation in rotations[budget.untouched :] if not rotation.pinned]
    doomed = _over_budget(rotations, free, budget)
    packable = [
        rotation
        for rotation in rotations[max(budget.compress_after, budget.untouched) :]
        if rotation in free and rotation not in doomed and not rotation.compressed and rotation.size
    ]
    proposals = [Proposal("delete", rotation) for rotation in doomed]
    proposals += [Proposal("compress", rotation) for rotation in packable]
    order = {rotation.file: position for position, rotation in enumerate(rotations)}
    return sorted(proposals, key=lambda proposal: order[proposal.file], reverse=True)


def _over_budget(rotations: Sequence[Rotation], free: Sequence[Rotation], budget: Budget) -> list[Rotation]:
    """The oldest ones that have to go."""
    count, size = len(rotations), sum(rotation.size for rotation in rotations)
    doomed: list[Rotation] = []
    for rotation in reversed(free):
        if count <= budget.rotations and size <= budget.size:
            break
        doomed.append(rotation)
        count -= 1
        size -= rotation.size
    return doomed


def proposals(store: Store, budget: Budget) -> list[Proposal]:
    """The dry run for a session. Blocking."""
    return plan(rotations_of(store.paths.live), budget)


def compress(store: Store, file: str) -> tuple[int, Publish]:
    """Packs a rotation; returns the bytes that this frees. An empty file keeps its number, as kimi-cli looks for it.

    Raises `ValueError` for a file that is no rotation, `OSError` when the disk refuses; nothing is lost then."""
    path = _rotation(store, file)
    with store.writing():
        if packed_path(path) is not None:
            return 0, _nothing
        data = path.read_bytes()
        packed = path.with_name(path.name + SUFFIX)
        _write_whole(store.disk, packed, pack(data), path.stat().st_mtime)
        _empty(store.disk, path)
    return len(data) - packed.stat().st_size, _nothing


def _write_whole(disk: Disk, target: Path, data: bytes, mtime: float) -> None:
    """The file with these bytes, all of them safe on the disk before it gets its name."""
    new = target.with_name(f".context.new.{os.getpid()}.pack")
    try:
        _fill(disk, new, data)
        os.utime(new, (mtime, mtime))
        disk.replace(new, target)
        disk.sync_folder(target.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(new)
        raise


def _empty(disk: Disk, path: Path) -> None:
    """An empty file in its place."""
    new = path.with_name(f".context.new.{os.getpid()}.empty")
    _fill(disk, new, b"")
    disk.replace(new, path)


def _fill(disk: Disk, path: Path, data: bytes) -> None:
    fd = disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[disk.write(fd, rest) :]
        disk.sync(fd)
    finally:
        os.close(fd)


def delete(store: Store, file: str) -> tuple[int, Publish]:
    """Removes a rotation for good; returns the bytes that this frees. Raises `ValueError` for a pinned one."""
    path = _rotation(store, file)
    if file in store.timeline.pinned:
        raise ValueError(f"{file} is pinned")
    freed = 0
    with store.writing():
        store.journal.write(Entry(pruned=file))
        for each in (packed_path(path), path):
            if each is not None and each.exists():
                freed += each.stat().st_size
                store.disk.unlink(each)

    def publish() -> None:
        store.timeline = store.timeline.without(frozenset({file}))

    return freed, publish


def _rotation(store: Store, file: str) -> Path:
    path = store.paths.folder / file
    number = store.paths.number(file)
    if number is None or file != store.paths.rotation(number).name:
        raise ValueError(f"{file} is not a rotation of this session")
    if not path.exists() and packed_path(path) is None:
        raise ValueError(f"{file} is gone")
    return path


def _nothing() -> None:
    """Nothing in memory changes."""
