"""Rows of text of which only those in sight are ever drawn, however many there are.

A subclass says how many there are (`total`) and what stands in one (`spans`). Rows are literal text in named tones; the
colours of the tones are in `styles/chat.tcss`.
"""

from __future__ import annotations

from typing import ClassVar

from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.ui.tones import GROUNDS, Span, Tones, strip_of, stylesheet
from kimi_tui.ui.widgets.bar import Barred


class Roll(Barred, can_focus=False):
    """See the module."""

    DEFAULT_CSS = stylesheet("lines")
    COMPONENT_CLASSES: ClassVar[set[str]] = set(GROUNDS)

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.tones = Tones(self)

    # --- what a subclass says -----------------------------------------------------------------------------------

    def total(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def spans(self, index: int, width: int) -> list[Span]:
        """What stands in a row that is `width` cells wide."""
        raise NotImplementedError

    # --- size -----------------------------------------------------------------------------------------------------

    @property
    def inner_width(self) -> int:
        return max(0, self.scrollable_content_region.width)

    @property
    def page_height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def resized(self) -> None:
        """The number of rows changed. Lays the screen out only when the scrollbar comes or goes."""
        size = Size(0, self.total())
        before, height = self.virtual_size.height, self.page_height
        if (before > height) != (size.height > height) or not self.is_attached:
            self.virtual_size = size
        else:
            self.set_reactive(Widget.virtual_size, size)
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.window_virtual_size = size.height
        self.refresh()

    # --- drawing --------------------------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        self.tones.forget()
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """At once, where nothing but rows is to be seen: on the way through the styles each row is made twice."""
        if self.opacity != 1.0 or self.styles.tint.a or self.styles.gutter:
            return super().render_lines(crop)
        (first, last), width, inner = crop.column_span, self.size.width, self.inner_width
        (_, ground), rest = self.background_colors, self.rich_style
        strips = [self._line_at(y, inner).adjust_cell_length(width, rest) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, ground) for strip in strips]
        return strips if (first, last) == (0, width) else [strip.crop(first, last) for strip in strips]

    def render_line(self, y: int) -> Strip:
        return self._line_at(y, self.inner_width)

    def _line_at(self, y: int, width: int) -> Strip:
        index = y + self.scroll_offset.y
        if index >= self.total():
            return strip_of((), width, self.tones)
        return self.line(index, width)

    def line(self, index: int, width: int) -> Strip:
        """One row as it is painted."""
        return strip_of(self.spans(index, width), width, self.tones, self.ground(index))

    def ground(self, index: int) -> str:
        """Which background a row has; empty for the widget's own."""
        return ""
