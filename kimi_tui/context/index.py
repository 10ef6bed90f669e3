"""`context.idx`: where the records of a big file stand, so that it need not be read to be opened.

Never needed: it is believed only when its own checksum holds, and the file is, by all that the system says of it, the
one that was indexed; or when the file has grown since, as after a kill, and the part that was indexed has its checksum
still. Anything else means that the file is read as if there were no index.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from array import array
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec

from kimi_tui.context.disk import Disk
from kimi_tui.context.history import History, Pages
from kimi_tui.context.projection import CheckpointMark, Problem, Projection, Range
from kimi_tui.context.reading import fold, kept_of
from kimi_tui.context.reports import Report

WORTH_IT = 512 << 10
"""Bytes. Smaller files are read as fast."""

EVERY = 4 << 20
"""Bytes that a session grows by before its index is written anew."""

_MAGIC = b"kt-index-2\n"
_BLOCK = 1 << 20

_Mark = tuple[int, int, int, int, int, int, float | None, float | None, int, int | None]
_Problem = tuple[str, int | None, int | None, str]


class _Body(msgspec.Struct, array_like=True):
    """A projection, flat. Bodies of messages are left in the file."""

    spans: bytes
    reports: bytes
    """How many messages each exact count covers, and the count, in turn."""
    marks: list[_Mark]
    prompts_text: list[str | None]
    """What the system prompt was, each different one once; marks name it by position."""
    system_prompt: int
    token_count: int
    exact_at: float | None
    pending_from: int
    next_id: int
    size: int
    lines: int
    left_out: list[Range]
    prompts: list[Range]
    problems: list[_Problem]


class _File(msgspec.Struct, array_like=True):
    identity: tuple[int, ...]
    body: msgspec.Raw
    checksum: int | None = None
    """Of the bytes that are covered; None when nobody has reckoned it."""


_decode_file = msgspec.msgpack.Decoder(_File).decode
_decode_body = msgspec.msgpack.Decoder(_Body).decode


@dataclass(frozen=True, slots=True)
class Index:
    """The records of a file up to a byte, ready to be written beside it."""

    body: bytes
    identity: tuple[int, int]
    """Device and inode of the file."""
    size: int
    """Bytes that it covers."""
    checksum: int | None = None
    """Of these bytes."""


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def make(projection: Projection, spans: array[int], status: os.stat_result) -> Index:
    """`spans` are starts and stops of the message lines, in turn."""
    texts: dict[str | None, int] = {projection.system_prompt: 0}
    marks = [_flat(mark, texts.setdefault(mark.system_prompt, len(texts))) for mark in projection.checkpoints]
    body = _Body(
        spans=spans.tobytes(),
        reports=array("Q", chain.from_iterable(map(msgspec.structs.astuple, projection.history.reports))).tobytes(),
        marks=marks,
        prompts_text=list(texts),
        system_prompt=0,
        token_count=projection.token_count,
        exact_at=projection.exact_at,
        pending_from=projection.pending_from,
        next_id=projection.next_id,
        size=projection.size,
        lines=projection.lines,
        left_out=projection.left_out,
        prompts=projection.prompts,
        problems=[(each.what, each.line, each.byte, each.kind) for each in projection.problems],
    )
    return Index(msgspec.msgpack.encode(body), (status.st_dev, status.st_ino), projection.size)


def renewed(old: Index | None, file: Path) -> Index | None:
    """An index of the file as it is now, made from an older one and what was appended since. Blocking.

    None while its last record is only half there. Raises `OSError`."""
    with file.open("rb") as source:
        status = os.fstat(source.fileno())
        if old is not None and old.identity != (status.st_dev, status.st_ino):
            old = None
        body = _decode_body(old.body) if old else None
        spans = array("Q", body.spans if body else b"")
        projection = _unfolded(body, file.name, None) if body else Projection(file.name)
        source.seek(projection.size)
        if fold(source, projection, lazy=True, spans=spans):
            return None
        start, known = (old.size, old.checksum) if old and old.checksum is not None else (0, 0)
        return replace(make(projection, spans, status), checksum=_checksum(source, start, projection.size, known))


def _checksum(file: BinaryIO, start: int, stop: int, known: int = 0) -> int:
    """Of `file[:stop]`, when `known` is that of `file[:start]`."""
    file.seek(start)
    while start < stop and (block := file.read(min(_BLOCK, stop - start))):
        known = zlib.crc32(block, known)
        start += len(block)
    return known


def _flat(mark: CheckpointMark, prompt: int) -> _Mark:
    return (
        mark.id,
        mark.offset,
        mark.lines,
        mark.history_index,
        mark.exact,
        mark.pending_from,
        mark.exact_at,
        mark.at,
        prompt,
        mark.known_tokens,
    )


def save(index: Index, file: Path, target: Path, disk: Disk) -> None:
    """Writes it for the file as it is now. A disk that refuses is no harm."""
    status = file.stat()
    if (status.st_dev, status.st_ino) != index.identity:
        return
    payload = msgspec.msgpack.encode(_File(_identity(status), msgspec.Raw(index.body), index.checksum))
    new = target.with_name(f".context.new.{os.getpid()}.idx")
    with contextlib.suppress(OSError):
        fd = disk.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            disk.write(fd, _MAGIC + zlib.crc32(payload).to_bytes(4, "big") + payload)
        finally:
            os.close(fd)
        disk.replace(new, target)


def load(file: Path, source: Path) -> tuple[Projection, Index] | None:
    """The projection that the index tells, up to the byte that it covers; None when it is not to be believed."""
    try:
        data = source.read_bytes()
        status = file.stat()
        pages = Pages(file, kept_of(status.st_size))
    except OSError:
        return None
    start = len(_MAGIC) + 4
    if not data.startswith(_MAGIC) or int.from_bytes(data[len(_MAGIC) : start], "big") != zlib.crc32(
        memoryview(data)[start:]
    ):
        return None
    try:
        found = _decode_file(memoryview(data)[start:])
        body = _decode_body(found.body)
        same = found.identity == _identity(status) or _has_grown(found, body.size, status, file)
    except (msgspec.MsgspecError, OSError):
        return None
    if not same or pages.identity != found.identity[:2]:
        return None
    index = Index(bytes(found.body), (status.st_dev, status.st_ino), body.size, found.checksum)
    return _unfolded(body, file.name, pages), index


def _has_grown(found: _File, size: int, status: os.stat_result, file: Path) -> bool:
    """Whether it is the indexed file with something appended to it."""
    if found.checksum is None or found.identity[:2] != (status.st_dev, status.st_ino) or status.st_size < size:
        return False
    with file.open("rb") as source:
        return _checksum(source, 0, size) == found.checksum


def _unfolded(body: _Body, name: str, pages: Pages | None) -> Projection:
    spans = array("Q")
    spans.frombytes(body.spans)
    history = History(pages=pages)
    history.extend(list(zip(spans[::2], spans[1::2], strict=True)))
    reports = array("Q", body.reports)
    history.reports = list(map(Report, reports[::2], reports[1::2]))
    texts = body.prompts_text
    history.prompt = texts[body.system_prompt]
    marks = [CheckpointMark(*mark[:8], texts[mark[8]], history, mark[9]) for mark in body.marks]
    return Projection(
        name=name,
        history=history,
        checkpoints=marks,
        system_prompt=texts[body.system_prompt],
        token_count=body.token_count,
        exact_at=body.exact_at,
        pending_from=body.pending_from,
        next_id=body.next_id,
        size=body.size,
        lines=body.lines,
        left_out=list(body.left_out),
        prompts=list(body.prompts),
        problems=[Problem(name, what, line, byte, kind) for what, line, byte, kind in body.problems],
    )
