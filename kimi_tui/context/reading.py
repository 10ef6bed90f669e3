"""Replays a file into a projection. Runs in a worker thread: no line costs a thread hop, none is held twice."""

from __future__ import annotations

import gc
import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kimi_tui.context.history import CACHED_BYTES, Body, History, Pages
from kimi_tui.context.packed import BUFFER, open_rotation
from kimi_tui.context.projection import Projection
from kimi_tui.context.records import BOM, MessageLine, parse

LAZY_ABOVE = 20 << 20
"""Bytes. Bodies of bigger files stay on the disk, but for those that were read last."""


def read_file(path: Path, *, lazy_above: int = LAZY_ABOVE, spans: array[int] | None = None) -> tuple[Projection, bool]:
    """The projection of a whole file, and whether its last line lacks its end. Raises `OSError`.

    `spans` gets the start and stop of each message line. A compressed rotation is found under its plain name."""
    with open_rotation(path) as file:
        size = path.stat().st_size if path.exists() else 0
        return _replayed(file, path, size if size > lazy_above else None, spans)


def read_live(path: Path, *, lazy_above: int, spans: array[int]) -> tuple[Projection, bool]:
    """The same for the live file, which is never compressed."""
    with path.open("rb", buffering=BUFFER) as file:
        size = os.fstat(file.fileno()).st_size
        return _replayed(file, path, size if size > lazy_above else None, spans)


def _replayed(file: BinaryIO, path: Path, lazy: int | None, spans: array[int] | None) -> tuple[Projection, bool]:
    """`lazy` is the size of a file whose bodies stay on the disk."""
    history = History(pages=None if lazy is None else Pages(path, kept_of(lazy)))
    projection = Projection(path.name, history)
    with without_collector():
        return projection, fold(file, projection, lazy=lazy is not None, spans=spans)


def kept_of(size: int) -> int | None:
    """So many bytes of lines of a file of that size may stay in memory once they were read; None: all."""
    return None if size <= LAZY_ABOVE else CACHED_BYTES


@contextmanager
def without_collector() -> Iterator[None]:
    """Nothing that an opening makes is garbage; looking for it would hold up every other thread, again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def fold(file: BinaryIO, projection: Projection, *, lazy: bool = False, spans: array[int] | None = None) -> bool:
    """Folds the lines of a file in, from where it stands. True when the last one lacks its line end."""
    line = b"\n"
    apply = projection.apply
    for line in file:  # splits on \n alone, whatever else the text holds
        text = line.removeprefix(BOM) if projection.size == 0 else line
        record = parse(text)
        body: Body | None = None
        if isinstance(record, MessageLine):
            stop = projection.size + len(line)
            body = span = (stop - len(text), stop)
            if spans is not None:
                spans.extend(span)
            if not lazy:
                body = text
        apply(record, len(line), body)
    return not line.endswith(b"\n")
