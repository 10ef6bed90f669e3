"""Rotations compressed, and removed for good. Which of them, and when, is for others to say: see `budget`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from kimi_tui.context.disk import Disk
from kimi_tui.context.journal import Entry
from kimi_tui.context.packed import SUFFIX, pack, packed_forms, packed_path
from kimi_tui.context.store import Publish, Store


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
        for each in (path, *packed_forms(path)):  # the packed form last: an empty file alone would be half a rotation
            if each.exists():
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
