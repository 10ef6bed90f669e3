"""What waits while a turn runs: steers for it, prompts for after it. Takes no room while nothing waits."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from kimi_tui.ui.rows import Piece, shorten, spread
from kimi_tui.ui.text import one_line
from kimi_tui.ui.widgets.line import Line

MOST = 4
"""Rows."""


class Queue(Line):
    """One row a waiting text, and how to take them back."""

    waiting: tuple[tuple[str, str], ...] = ()

    def show(self, steers: tuple[str, ...], prompts: tuple[str, ...]) -> None:
        waiting = (*(("steer", text) for text in steers), *(("then", text) for text in prompts))
        if waiting != self.waiting:
            self.waiting = waiting
            self.styles.height = min(MOST, len(waiting))
            self.display = bool(waiting)
            self.refresh()

    def on_mount(self) -> None:
        self.display = False

    def row(self, number: int, width: int) -> tuple[Piece, ...]:
        kind, text = self.waiting[number]
        if number == MOST - 1 and len(self.waiting) > MOST:
            return (Piece(f"  … {len(self.waiting) - number} more", "faint"),)
        right = [Piece("up", "moved"), Piece(" takes back ", "faint")] if number == 0 else []
        left = [Piece(f"  {kind:<6}", "moved"), Piece(shorten(one_line(text), width), "quiet")]
        return spread(left, right, width)

    def render_line(self, y: int) -> Strip:
        pieces = self.row(y, self.size.width) if y < len(self.waiting) else ()
        segments = [Segment(piece.text, self.palette(piece.style)) for piece in pieces]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)
