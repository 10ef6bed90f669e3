"""A widget of one row that draws pieces: header, gauge, activity and key hints are such lines."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.ui.keymap import USUAL, Names
from kimi_tui.ui.palette import Palette
from kimi_tui.ui.rows import Piece


class Line(Widget):
    """Draws `pieces()` anew whenever `changed` is called; never causes a layout."""

    ALLOW_SELECT = False
    names: Names = USUAL
    """Of the keys that the row tells of."""

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette(self)
        self._drawn: tuple[Piece, ...] = ()

    def pieces(self, width: int) -> tuple[Piece, ...]:
        """What stands in the row now, in at most `width` cells."""
        raise NotImplementedError

    def changed(self) -> None:
        """Paint again if there is anything new to see."""
        pieces = self.pieces(self.size.width)
        if pieces != self._drawn:
            self._drawn = pieces
            self.refresh()

    def render_line(self, y: int) -> Strip:
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        self._drawn = self.pieces(self.size.width)
        segments = [Segment(piece.text, self.palette(piece.style)) for piece in self._drawn]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.palette.forget()
