"""Rows of styled text, and wrapping: what every block of the transcript is made of before it is painted.

A style is a name (`verb`, `code`, `strong link`), never a colour; the widget that paints looks it up in the style
sheet. So rows can be built, compared and tested without a terminal, and survive a change of theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f"
    "\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_CLOSING = "，。、！？；：）」』】》〉”’…"
_EVEN = "\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
"""Two cells each, whatever stands beside them: runs of these need no measuring."""
_TOKEN = re.compile(rf"(?P<run>[{_EVEN}]+(?=[{_EVEN}]))|[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+|\s+")


class Piece(NamedTuple):
    """A stretch of text in one style."""

    text: str
    style: str = ""
    link: str = ""
    """Where the text leads, for OSC 8; empty for none."""


@dataclass(slots=True)
class Row:
    """One row of the screen."""

    pieces: tuple[Piece, ...]
    gutter: int = 0
    """Leading characters that are decoration (bars, bullets' indent, line numbers) and are not copied."""
    joint: str = "\n"
    """What stands between this row and the next in the source: a line break, or what a soft wrap swallowed."""
    fill: str = ""
    """Style of the rest of the row; empty for the widget's own."""
    painted: tuple[object, object] | None = field(default=None, compare=False, repr=False)
    """For the widget that paints it: how it was painted last, and under which circumstances."""

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def width(self) -> int:
        return sum(cell_len(piece.text) for piece in self.pieces)


BLANK = Row(())


def wrap(
    pieces: Sequence[Piece],
    width: int,
    first: tuple[Piece, ...] = (),
    rest: tuple[Piece, ...] | None = None,
) -> list[Row]:
    """One source line as rows of at most `width` cells, `first` before the first row and `rest` before the others."""
    rest = first if rest is None else rest
    room = max(1, width - max(_cells(first), _cells(rest)))
    text = "".join(piece.text for piece in pieces)
    cuts = breaks(text, room)
    rows = []
    for number, (start, end, joint) in enumerate(cuts):
        lead = rest if number else first
        gutter = sum(len(piece.text) for piece in lead)
        rows.append(Row((*lead, *cut(pieces, start, end)), gutter, joint))
    return rows


def breaks(text: str, width: int) -> list[tuple[int, int, str]]:
    """Where to break a line: start, end and what the break swallowed. The last one ends in a line break."""
    if len(text) <= width and text.isascii():
        return [(0, len(text), "\n")]
    found: list[tuple[int, int, str]] = []
    start = end = used = 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup:
            start, end, used = _run(text, (start, end, used), match.span(), width, found)
            continue
        token, at = match[0], match.start()
        cells = cell_len(token)
        if used + cells <= width:
            used, end = used + cells, match.end()
        elif token.isspace():
            found.append((start, at, token))
            start, end, used = match.end(), match.end(), 0
        else:
            if end > start:
                kept = text[start:end].rstrip()
                found.append((start, start + len(kept), text[start + len(kept) : end]))
            start, end, used = _chop(text, at, match.end(), width, found)
    found.append((start, len(text.rstrip()) if end > start else max(start, end), "\n"))
    return found


def _run(
    text: str, row: tuple[int, int, int], run: tuple[int, int], width: int, found: list[tuple[int, int, str]]
) -> tuple[int, int, int]:
    """Break a run of signs of two cells each; `row` is what is on the row so far, as start, end and cells."""
    start, end, used = row
    at, stop = run
    while at < stop:
        fits = min(stop - at, (width - used) // 2)
        if fits <= 0 and end > start:
            kept = text[start:end].rstrip()
            found.append((start, start + len(kept), text[start + len(kept) : end]))
            start, end, used = at, at, 0
            continue
        fits = max(1, fits)
        used, at = used + 2 * fits, at + fits
        end = at
    return start, end, used


def _chop(text: str, start: int, end: int, width: int, found: list[tuple[int, int, str]]) -> tuple[int, int, int]:
    """Break a token that may be wider than a row; returns what is left of it as start, end and cells."""
    token = text[start:end]
    if token.isascii():
        while end - start > width:
            found.append((start, start + width, ""))
            start += width
        return start, end, end - start
    used, first = 0, start
    for left, right, cells in split_graphemes(token)[0]:
        if used and used + cells > width:
            found.append((start, first + left, ""))
            start, used = first + left, 0
        used += cells
        end = first + right
    return start, end, used


def cut(pieces: Iterable[Piece], start: int, end: int) -> list[Piece]:
    """The characters `start … end` of a run of pieces."""
    taken, at = [], 0
    for piece in pieces:
        stop = at + len(piece.text)
        if stop > start and at < end:
            text = piece.text[max(0, start - at) : end - at]
            taken.append(piece if len(text) == len(piece.text) else piece._replace(text=text))
        at = stop
        if at >= end:
            break
    return taken


def shorten(text: str, width: int, mark: str = "…") -> str:
    """The text cut to `width` cells, with a mark where something is missing."""
    if (len(text) <= width and text.isascii()) or cell_len(text) <= width:
        return text
    room, used, end = width - cell_len(mark), 0, 0
    if room < 0:
        return ""
    for _, right, cells in split_graphemes(text[: width * 4])[0]:
        if used + cells > room:
            break
        used, end = used + cells, right
    return text[:end].rstrip() + mark


def shorten_pieces(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Pieces cut to `width` cells."""
    taken: list[Piece] = []
    for piece in pieces:
        cells = cell_len(piece.text)
        if cells <= width:
            taken.append(piece)
            width -= cells
        else:
            taken.append(piece._replace(text=shorten(piece.text, width)))
            break
    return taken


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> tuple[Piece, ...]:
    """Left and right on one row; the left gives way first, and the right goes when there is no room for both."""
    tail = _cells(right)
    if tail and width - tail < 12:
        right, tail = (), 0
    kept = shorten_pieces(left, width - tail - (1 if tail else 0))
    gap = width - tail - _cells(kept)
    return (*kept, Piece(" " * gap), *right) if tail else tuple(kept)


def _cells(pieces: Iterable[Piece]) -> int:
    return sum(cell_len(piece.text) for piece in pieces)


def copied(rows: Sequence[Row], first: int, start: int, end: int | None) -> str:
    """The text of a selection over these rows: from column `start` of the first to column `end` of the last.

    Columns count characters of the row as it is shown; gutters are left out, soft wraps are undone and
    what fills a row up to its end stays behind.
    """
    parts: list[str] = []
    last = len(rows) - 1
    for number, row in enumerate(rows):
        text = row.text
        left = max(row.gutter, start if number == first else 0)
        right = len(text) if number < last or end is None else max(left, end)
        part = text[left:right]
        padded = row.joint == "\n" and right >= len(text)
        parts.append(part.rstrip(" ") if padded else part)
        if number < last:
            parts.append(row.joint)
    return "".join(parts)
