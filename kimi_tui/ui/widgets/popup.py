"""A short list over the prompt: commands, files or earlier prompts to choose from while typing.

It never has the focus: the editor passes keys on. Posts `Chosen` when one is clicked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.ui.completion import Suggestion
from kimi_tui.ui.palette import Palette
from kimi_tui.ui.rows import Piece, shorten_pieces
from kimi_tui.ui.text import one_line

MOST = 8
"""Rows shown at once."""
DETAILS = 24
"""Column of the details."""


class Popup(Widget):
    """See the module."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"popup--cursor"}

    @dataclass
    class Chosen(Message):
        suggestion: Suggestion

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette(self)
        self.suggestions: Sequence[Suggestion] = ()
        self.cursor = 0
        self._first = 0
        self.display = False

    @property
    def chosen(self) -> Suggestion | None:
        return self.suggestions[self.cursor] if self.display and self.suggestions else None

    def show(self, suggestions: Sequence[Suggestion]) -> None:
        """A new list; none closes it. The first one is the chosen one."""
        self.suggestions, self.cursor, self._first = suggestions, 0, 0
        rows = min(MOST, len(suggestions))
        if rows:
            self.styles.height = rows
            if isinstance(self.parent, Widget):
                self.styles.width = self.parent.outer_size.width
            self.styles.offset = (-1, -rows - 1)  # right above the box, its border included
        self.display = bool(rows)
        self.refresh()

    def move(self, by: int) -> None:
        """The cursor goes round at the ends."""
        self.cursor = (self.cursor + by) % max(1, len(self.suggestions))
        self._first = min(max(self._first, self.cursor - MOST + 1), self.cursor)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number, width = self._first + y, self.size.width
        if number >= len(self.suggestions):
            return Strip.blank(width, self.rich_style)
        suggestion, here = self.suggestions[number], number == self.cursor
        label = one_line(suggestion.label)
        pieces = [Piece(" ❯ " if here else "   ", "now"), Piece(label, "strong" if here else "")]
        if suggestion.detail:
            pieces += [Piece(" " * max(2, DETAILS - cell_len(label))), Piece(one_line(suggestion.detail), "quiet")]
        style = self.get_component_rich_style("popup--cursor", partial=True) if here else None
        pieces = shorten_pieces(pieces, width)
        turned = style is not None and style.reverse  # as a whole, or it would be a row of patches
        segments = [Segment(piece.text, self.palette("" if turned else piece.style)) for piece in pieces]
        strip = Strip(segments).adjust_cell_length(width, self.rich_style)
        return Strip(Segment.apply_style(strip, post_style=style), width) if style else strip

    def on_click(self, event: events.Click) -> None:
        number = self._first + event.y
        if number < len(self.suggestions):
            self.post_message(self.Chosen(self.suggestions[number]))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.palette.forget()
