"""Looks over what stands beside the context files: `state.json`, `timeline.jsonl`. Losing them loses no messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kimi_tui.context import SessionLocked
from kimi_tui.context.doctor import Finding
from kimi_tui.context.journal import Entry
from kimi_tui.context.lock import SessionLock
from kimi_tui.session.state import DAMAGED, STATE, is_damaged, load_state, save_state, write_atomically

TIMELINE = "timeline.jsonl"
TIMELINE_DAMAGED = "timeline.damaged.jsonl"

_decode = msgspec.json.Decoder(Entry).decode


def check(folder: Path) -> list[Finding]:
    """What is wrong with them; changes nothing."""
    found = [_damaged_line(line, byte) for line, byte, data in _lines(folder) if not _reads(data)]
    if is_damaged(folder):
        what = "The file is not one JSON document; modes, title and to-dos may be lost."
        found.append(Finding("warning", STATE, what, cure=f"it is set aside as {DAMAGED}, what can be read is used"))
    return found


def _damaged_line(line: int, byte: int) -> Finding:
    what = "The line cannot be read; why and when a rotation arose, a name or a pin may be lost."
    return Finding(
        "warning", TIMELINE, what, line, byte, cure=f"it is left out, the old file stays as {TIMELINE_DAMAGED}"
    )


def mend(folder: Path) -> tuple[str, ...]:
    """Mends them, and says what was done. Raises `SessionLocked`, `OSError`."""
    lock = SessionLock(folder / "context.lock")
    if (holder := lock.acquire()) is not None:
        raise SessionLocked(folder, holder)
    try:
        return tuple(filter(None, (_mend_state(folder), _mend_timeline(folder))))
    finally:
        lock.release()


def _mend_state(folder: Path) -> str:
    if not is_damaged(folder):
        return ""
    state, told = load_state(folder)
    save_state(folder, state)
    return told


def _mend_timeline(folder: Path) -> str:
    lines = [*_lines(folder)]
    good = [data for _, _, data in lines if _reads(data)]
    if len(good) == len(lines):
        return ""
    path = folder / TIMELINE
    (folder / TIMELINE_DAMAGED).write_bytes(path.read_bytes())
    write_atomically(path, b"".join(data + b"\n" for data in good).decode())
    return f"{TIMELINE}: {len(lines) - len(good)} of {len(lines)} lines left out; the old file is {TIMELINE_DAMAGED}"


def _lines(folder: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of every line that is not empty."""
    try:
        data = (folder / TIMELINE).read_bytes()
    except OSError:
        return
    byte = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, byte, line
        byte += len(line) + 1


def _reads(line: bytes) -> bool:
    try:
        _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True
