"""How entries are drawn now, and text as it is: what all kinds of blocks share."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_tui.protocol.views import SubagentView
from kimi_tui.ui.cells import plural
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.pictures import Picture
from kimi_tui.ui.rows import Piece, Row, shorten, wrap
from kimi_tui.ui.text import clean

WIDEST = 112
"""Cells; prose in longer rows is hard to read."""
INDENT = 2
OPEN_ROWS = 2_000
"""Rows of an unfolded block; what is longer is for the editor."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How entries are drawn now."""

    width: int
    unfolded: bool = False
    marks: Marks = UNICODE
    live: str = ""
    """The end of a running tool's output."""
    helper: SubagentView | None = None
    """The agent that a tool call started."""
    pictures: tuple[Picture | None, ...] = ()
    """The entry's images, where they can be shown."""

    @property
    def column(self) -> int:
        return max(1, min(self.width, WIDEST))

    def picture(self, number: int) -> Picture | None:
        return self.pictures[number] if number < len(self.pictures) else None


def literal_rows(text: str, drawing: Drawing, lead: tuple[Piece, ...], style: str, limit: int) -> list[Row]:
    """Text as it is, wrapped; at most `limit` rows and a last one that says how much is not shown."""
    text = _cleaned(text, 2 * limit * drawing.column)
    rows: list[Row] = []
    at = 0
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        room = (limit - len(rows)) * drawing.column
        rows += wrap([Piece(text[at : min(end, at + room + 1)], style)], drawing.column, lead)
        if end - at > room or (len(rows) >= limit and (end < len(text) or len(rows) > limit)):
            rest = text.count("\n", min(end + 1, len(text)))
            return [
                *rows[:limit],
                Row(
                    (*lead, Piece(shorten(more_lines(rest, drawing.marks), drawing.column - len(lead)), "faint")),
                    len(lead),
                ),
            ]
        at = end + 1
    return rows


def _cleaned(text: str, needed: int) -> str:
    """Cleaned as far as it can be seen; of what comes after that only the length and the lines are left."""
    if len(text) <= 2 * needed:
        return clean(text)
    end = text.find("\n", needed)
    if 0 <= end < 2 * needed:
        return clean(text[:end]) + "\n" * text.count("\n", end)
    return clean(text[: 2 * needed]) + " " * (len(text) - 2 * needed) + "\n" * text.count("\n", 2 * needed)


def tail_rows(text: str, drawing: Drawing, lead: tuple[Piece, ...], style: str, limit: int) -> list[Row]:
    """The last rows of a text."""
    return _tail(text, drawing, lead, style, limit)[0]


def told_tail_rows(text: str, drawing: Drawing, lead: tuple[Piece, ...], limit: int) -> list[Row]:
    """The same of what does not grow any more: it is said that there is more."""
    rows, more = _tail(text, drawing, lead, "quiet", limit)
    return [Row((*lead, Piece(f"{drawing.marks.more} more above", "faint")), len(lead)), *rows] if more else rows


def _tail(text: str, drawing: Drawing, lead: tuple[Piece, ...], style: str, limit: int) -> tuple[list[Row], bool]:
    """The last rows, and whether there are others before them."""
    text = text.rstrip()
    end = text[-limit * drawing.column * 4 :]
    lines = clean(end).strip("\n").split("\n")
    if not lines[-1]:
        return [], False
    rows = [row for line in lines[-limit:] for row in wrap([Piece(line, style)], drawing.column, lead)]
    return rows[-limit:], len(rows) > limit or len(lines) > limit or len(end) < len(text)


def more_lines(lines: int, marks: Marks) -> str:
    return f"{marks.more} {plural(lines + 1, 'more line')}"
