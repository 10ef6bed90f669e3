"""A list with a cursor: a subclass says what stands in its rows, and hears about the cursor (`moved`, `chosen`)."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from kimi_tui.ui.widgets.roll import Roll


class Lines(Roll, can_focus=True):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False),
        Binding("down", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "edge(-1)", "first", show=False),
        Binding("end", "edge(1)", "last", show=False),
        Binding("enter", "choose", "choose", show=False),
    ]

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.cursor = 0
        self._lit: int | None = None

    def resized(self) -> None:
        super().resized()
        self.cursor = max(0, min(self.cursor, self.total() - 1))

    # --- what a subclass says -----------------------------------------------------------------------------------

    def stops(self, index: int) -> bool:
        """Whether the cursor may rest on that row."""
        return True

    def moved(self) -> None:
        """The cursor rests on another row."""

    def chosen(self) -> None:
        """Enter or a click on the row under the cursor."""

    def ground(self, index: int) -> str:
        """Where the cursor rests, or where the mouse hovers."""
        if index == self.cursor and self.stops(index):
            return "cursor"
        return "lit" if index == self._lit else ""

    # --- the cursor -----------------------------------------------------------------------------------------------

    def rest(self, index: int, *, tell: bool = True) -> None:
        """Puts the cursor on the nearest row to `index` where it may stay, and scrolls there."""
        found = self._nearest(max(0, min(index, self.total() - 1)), 1 if index >= self.cursor else -1)
        if found is None or found == self.cursor:
            self.reveal(self.cursor)
            return
        before, self.cursor = self.cursor, found
        self.refresh_line(before)
        self.refresh_line(found)
        self.reveal(found)
        if tell:
            self.moved()

    def _nearest(self, index: int, step: int) -> int | None:
        for way in (step, -step):
            place = index
            while 0 <= place < self.total():
                if self.stops(place):
                    return place
                place += way
        return None

    def reveal(self, index: int) -> None:
        top, height = self.scroll_offset.y, self.page_height
        if index < top:
            self.scroll_to(y=index, animate=False, immediate=True)
        elif index >= top + height:
            self.scroll_to(y=index - height + 1, animate=False, immediate=True)

    def action_move(self, by: int) -> None:
        self.rest(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.rest(self.cursor + by * max(1, self.page_height - 1))

    def action_edge(self, way: int) -> None:
        self.rest(0 if way < 0 else self.total() - 1)

    def action_choose(self) -> None:
        if self.total() and self.stops(self.cursor):
            self.chosen()

    # --- the mouse ------------------------------------------------------------------------------------------------

    def row_at(self, y: int) -> int | None:
        index = y + self.scroll_offset.y
        return index if 0 <= index < self.total() and self.stops(index) else None

    def on_click(self, event: events.Click) -> None:
        spot = event.get_content_offset(self)
        index = self.row_at(spot.y) if spot is not None else None
        if index is None or spot is None:
            return
        event.stop()
        self.rest(index)
        self.clicked(index, spot.x)

    def clicked(self, index: int, x: int) -> None:
        """A click on a row, `x` cells from its start. The cursor is there already."""
        self.action_choose()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        spot = event.get_content_offset(self)
        self._light(self.row_at(spot.y) if spot is not None else None)

    def on_leave(self) -> None:
        self._light(None)

    def _light(self, index: int | None) -> None:
        if index == self._lit:
            return
        for row in (self._lit, index):
            if row is not None:
                self.refresh_line(row)
        self._lit = index
