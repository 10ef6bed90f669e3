"""Rows as they are painted: in the styles of the theme, with what is selected, one column of margin before them.

Rows keep their strips, and strips what was worked out of them; Textual's own way would make every row in sight anew
whenever the view moves by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, cast

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip

from kimi_tui.ui.palette import Palette
from kimi_tui.ui.rows import BLANK, Piece, Row, cut
from kimi_tui.ui.widgets.anchored import Anchored

MARGIN = 1
NO_MARGIN = Piece(" " * MARGIN)


class Ways(NamedTuple):
    """What holds for all rows of a view while it is painted."""

    top: int
    width: int
    inner: int
    edition: object
    selection: Selection | None


class Painted(Anchored):
    """A subclass says which rows there are (`place_of`, `rows_of`) and what stands in the margin."""

    def __init__(self) -> None:
        super().__init__()
        self.palette = Palette(self)

    # --- what a subclass says ------------------------------------------------------------------------------------

    def place_of(self, y: int) -> tuple[int, int]:
        """Block and row of a place in the whole content; the row is negative between blocks and outside."""
        raise NotImplementedError

    def rows_of(self, position: int) -> list[Row]:
        """The rows of one block."""
        raise NotImplementedError

    def margin(self, position: int, row: int) -> Piece:
        """What stands in the margin beside a row of a block."""
        return NO_MARGIN

    def dressed(self, row: Row) -> tuple[Piece, ...]:
        """The row's pieces as they are painted now."""
        return row.pieces

    # --- painting ------------------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        if self.opacity != 1.0 or self.styles.tint.a or self.styles.gutter:
            return super().render_lines(crop)
        ways, (_, ground) = self._ways(), self.background_colors
        strips = [self.strip(y, ways) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, ground) for strip in strips]
        first, last = crop.column_span
        return strips if (first, last) == (0, ways.width) else [strip.crop(first, last) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Row `y` of the view, with the offsets that tell the screen where the mouse is."""
        return self.strip(y, self._ways()).apply_offsets(0, y + round(self.scroll_y))

    def _ways(self) -> Ways:
        return Ways(round(self.scroll_y), self.size.width, self.inner_width, self.palette.edition, self.text_selection)

    def row_at(self, y: int) -> Row:
        """The row at a place in the whole content; blank between blocks and outside."""
        return self._row(*self.place_of(y))

    def _row(self, position: int, row: int) -> Row:
        rows = self.rows_of(position) if row >= 0 else []
        return rows[row] if 0 <= row < len(rows) else BLANK

    def strip(self, y: int, ways: Ways) -> Strip:
        """Row `y` of the view."""
        position, number = self.place_of(y + ways.top)
        margin = NO_MARGIN if number < 0 else self.margin(position, number)
        row = self._row(position, number)
        pieces, span = self.dressed(row), ways.selection.get_span(y + ways.top) if ways.selection else None
        if span is not None:
            return self._sized(self._selected([margin, *pieces], *span), row, ways)
        if pieces is not row.pieces:
            return self._sized(self._segments(margin, pieces), row, ways)
        now = (ways.edition, ways.width, ways.inner, margin)
        if row.painted is None or row.painted[0] != now:
            row.painted = now, self._sized(self._segments(margin, pieces), row, ways)
        return cast(Strip, row.painted[1])

    def _segments(self, margin: Piece, pieces: Iterable[Piece]) -> list[Segment]:
        return [Segment(piece.text, self.palette(piece.style, piece.link)) for piece in (margin, *pieces)]

    def _sized(self, segments: list[Segment], row: Row, ways: Ways) -> Strip:
        strip = Strip(segments).adjust_cell_length(ways.inner, self.palette(row.fill))
        return strip.adjust_cell_length(ways.width, self.rich_style)

    def _selected(self, pieces: list[Piece], start: int, end: int) -> list[Segment]:
        end = sum(len(piece.text) for piece in pieces) if end < 0 else end
        ground = self.screen.get_component_rich_style("screen--selection")
        parts = (
            (cut(pieces, 0, start), Style()),
            (cut(pieces, start, end), ground),
            (cut(pieces, end, 1 << 30), Style()),
        )
        return [
            Segment(piece.text, self.palette(piece.style, piece.link) + style) for run, style in parts for piece in run
        ]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.palette.forget()
