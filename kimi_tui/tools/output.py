"""The output of a command: decoded as it comes, shown live, and kept as head and tail."""

from __future__ import annotations

import codecs
import time
from collections import deque
from collections.abc import Callable
from io import BufferedWriter
from pathlib import Path

from kimi_tui.tools.text import MODEL_LIMIT, clean, omission

LIVE_SECONDS = 0.05
"""Shortest time between two pieces of live output."""
LIVE_LIMIT = 64_000
"""Characters of one live piece; of a flood only the end is shown."""
FILE_LIMIT = 64 << 20
"""Bytes that are written to the file at most."""


class CommandOutput:
    """Takes bytes, gives text. Never holds more than the head, the tail and one live piece."""

    def __init__(self, emit: Callable[[str], None], file: Path | None = None, limit: int = MODEL_LIMIT) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._live = _Live(emit)
        self._kept = HeadTail(limit)
        self._overflow = Overflow(file) if file is not None else None

    def feed(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        if self._overflow is not None:
            self._overflow.write(data, spill=self._kept.length + len(text) > self._kept.limit)
        self._kept.add(text)
        self._live.add(text)

    def show(self) -> None:
        """Show what waits, though nothing new came."""
        self._live.flush()

    def close(self) -> str:
        """The end: everything shown, the file closed. Returns the text for the model."""
        self.feed(b"", final=True)
        self._live.flush()
        where = self._overflow.close() if self._overflow is not None else ""
        return self._kept.text(where)


class HeadTail:
    """The first and the last characters of a text of any length."""

    def __init__(self, limit: int) -> None:
        self.limit, self.length = limit, 0
        self._head_room = limit // 2
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_length = 0

    def add(self, text: str) -> None:
        self.length += len(text)
        head, tail = text[: self._head_room], text[self._head_room :]
        if head:
            self._head.append(head)
            self._head_room -= len(head)
        if tail:
            self._tail.append(tail)
            self._tail_length += len(tail)
            self._trim()

    def _trim(self) -> None:
        room = self.limit - self.limit // 2
        while self._tail_length - len(self._tail[0]) >= room:
            self._tail_length -= len(self._tail.popleft())

    def text(self, where: str = "") -> str:
        """Cleaned, and within the limit apart from the line that says what is missing."""
        room = self.limit - self.limit // 2
        tail = "".join(self._tail)[-room:]
        missing = self.length - sum(map(len, self._head)) - len(tail)
        middle = omission(missing, where) if missing else ""
        return clean("".join(self._head)) + middle + clean(tail) if middle else clean("".join(self._head) + tail)


class _Live:
    """Pieces for the screen, not too many a second and not too long."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit, self._waiting, self._last = emit, "", 0.0

    def add(self, text: str) -> None:
        self._waiting += text
        if len(self._waiting) > LIVE_LIMIT:
            self._waiting = omission(len(self._waiting) - LIVE_LIMIT // 2) + self._waiting[-LIVE_LIMIT // 2 :]
        if time.monotonic() - self._last >= LIVE_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            self._emit(self._waiting)
            self._waiting, self._last = "", time.monotonic()


class Overflow:
    """The whole output in a file, which is only made once the output is too long for the model.

    A full disk costs the file, not the command.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._early, self._written, self._lost = path, bytearray(), 0, False
        self._file: BufferedWriter | None = None

    def write(self, data: bytes, *, spill: bool) -> None:
        if self._lost:
            return
        if self._file is None and not spill:
            self._early += data
            return
        try:
            self._append(data)
        except OSError:
            self._lost = True

    def _append(self, data: bytes) -> None:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("wb")
            data, self._early = bytes(self._early) + data, bytearray()
        room = FILE_LIMIT - self._written
        self._written += self._file.write(data[:room])

    def close(self) -> str:
        """The file's path; empty when none was needed."""
        if self._file is None:
            return ""
        try:
            self._file.close()
        except OSError:
            self._lost = True
        return "" if self._lost else str(self._path)
