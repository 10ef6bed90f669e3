"""ReadFile: the lines of a text file, numbered."""

from __future__ import annotations

import asyncio
import io
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import ClassVar

from pydantic import Field, field_validator

from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.paths import PathFault, Place, admit_reading, explain, free_to_read, locate, opened, regular_file
from kimi_tui.tools.stray_bytes import has_stray_bytes
from kimi_tui.tools.text import plural, visible
from kimi_tui.tools.text_file import EDIT_LIMIT, SNIFF, Coding, coding_of, refuse_binary

LINES = 1000
LINE_LIMIT = 2000
"""Characters of one line that are shown."""
CHARACTERS = 80_000
"""Of one result, numbers included."""
SIZE_LIMIT = 256 << 20
"""Bytes of a file that is read through for its lines."""


class ReadFileParams(Params):
    path: str = Field(description="The file, relative to the work folder or absolute.")
    line_offset: int = Field(
        default=1,
        description="First line to read, counted from 1; a negative number counts from the end (-20: last 20).",
    )
    n_lines: int = Field(default=LINES, ge=1, description="How many lines to read at most.")

    @field_validator("line_offset")
    @classmethod
    def _from_one(cls, value: int) -> int:
        return value or 1


class ReadFile:
    name: ClassVar[str] = "ReadFile"
    Params: ClassVar[type[Params]] = ReadFileParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/read_file")

    def describe(self, params: ReadFileParams) -> tuple[str, str]:
        return "Read", params.path

    async def __call__(self, params: ReadFileParams, call: Call) -> ToolResult:
        try:
            place, result = await asyncio.to_thread(_read_if_free, params, call)
            if result is not None:
                return result
            refused = await admit_reading(place, call, self.name)
            return refused if refused is not None else await asyncio.to_thread(_read, place, params)
        except (PathFault, OSError) as fault:
            return failed(explain(fault))


@dataclass(slots=True)
class _Page:
    """The wanted lines, and what was seen of the rest."""

    lines: list[tuple[int, bytes]]
    total: int
    ends_open: bool


def _read_if_free(params: ReadFileParams, call: Call) -> tuple[Place, ToolResult | None]:
    """Where the file is, and its lines if nobody has to be asked for them: one trip to the worker for most calls."""
    place = locate(params.path, call)
    return place, _read(place, params) if free_to_read(place, call) else None


def _read(place: Place, params: ReadFileParams) -> ToolResult:
    size = regular_file(place).st_size
    with _lines(place, size) as (lines, coding):
        page = _page(lines, params.line_offset, params.n_lines)
    if not page.total:
        return ToolResult(message=f"{place.shown} is empty.", brief="empty")
    if not page.lines:
        raise PathFault(f"{place.shown} has only {plural(page.total, 'line')}.")
    text, last = _numbered(page.lines)
    shown = [line for number, line in page.lines if number <= last]
    notes = [_range(page, last), *_encoding(coding, shown), *_endings(shown)]
    notes += ["No line break at the end."] if page.ends_open and last == page.total else []
    return ToolResult(text, message=" ".join(notes), brief=plural(last - page.lines[0][0] + 1, "line"))


@contextmanager
def _lines(place: Place, size: int) -> Iterator[tuple[Iterator[bytes], Coding]]:
    """The file's lines as UTF-8 bytes, read one by one. Raises PathFault for what is no text or too big."""
    with opened(place.path) as file:
        head = file.read(SNIFF) or b""
        refuse_binary(place, head, size)
        coding = coding_of(head)
        if size > (EDIT_LIMIT if coding.wide else SIZE_LIMIT):
            raise PathFault(f"{place.shown} has {size:,} bytes, too many to read here. Use Grep, or a command.")
        file.seek(0)
        if not coding.wide:
            file.seek(len(coding.bom))
            yield iter(file), coding
            return
        try:
            yield iter(io.BytesIO(coding.decode(file.read()).encode("utf-8"))), coding
        except UnicodeDecodeError as fault:
            raise PathFault(f"{place.shown} begins like {coding} but is not valid: {fault.reason}.") from None


def _page(lines: Iterator[bytes], offset: int, count: int) -> _Page:
    if offset < 0:
        last: deque[tuple[int, bytes]] = deque(enumerate(lines, 1), maxlen=-offset)
        total = last[-1][0] if last else 0
        return _Page(list(islice(last, count)), total, bool(last) and not last[-1][1].endswith(b"\n"))
    numbered = enumerate(lines, 1)
    skipped = deque(islice(numbered, offset - 1), maxlen=1)
    wanted = list(islice(numbered, count))
    rest = deque(numbered, maxlen=1)
    end = next((part[-1] for part in (rest, wanted, skipped) if part), (0, b"\n"))
    return _Page(wanted, end[0], not end[1].endswith(b"\n"))


def _numbered(lines: list[tuple[int, bytes]]) -> tuple[str, int]:
    """The lines as far as they fit, and the number of the last."""
    shown: list[str] = []
    room, last = CHARACTERS, 0
    for number, line in lines:
        text = f"{number:>6}\t{_line(line)}\n"
        room -= len(text)
        if room < 0 and shown:
            break
        shown.append(text)
        last = number
    return "".join(shown), last


def _line(line: bytes) -> str:
    bare = line.removesuffix(b"\n").removesuffix(b"\r")
    text = visible(bare[: 4 * LINE_LIMIT + 4].decode("utf-8", "surrogateescape"))
    if len(text) <= LINE_LIMIT and len(bare) <= 4 * LINE_LIMIT + 4:
        return text
    return f"{text[:LINE_LIMIT]} [… {len(bare):,} bytes in this line]"


def _encoding(coding: Coding, lines: list[bytes]) -> list[str]:
    if coding != Coding():
        return [f"Encoding: {coding}."]
    stray = has_stray_bytes(b"".join(lines).decode("utf-8", "surrogateescape"))
    return [r"Not all of it is UTF-8: other bytes are shown as `\xe9`."] if stray else []


def _endings(lines: list[bytes]) -> list[str]:
    crlf = sum(line.endswith(b"\r\n") for line in lines)
    if not crlf:
        return []
    mixed = crlf < sum(line.endswith(b"\n") for line in lines)
    return ["Line endings: some CRLF, some LF." if mixed else "Line endings: CRLF."]


def _range(page: _Page, last: int) -> str:
    first = page.lines[0][0]
    more = f" Go on with line_offset={last + 1}." if last < page.total else ""
    return f"Lines {first}–{last} of {page.total}.{more}"
