"""A virtual list of blocks of rows, placed by an anchor: which block, which row in it, stands at the top.

Only blocks that come into sight are measured; the heights of the others are guesses until then. A corrected guess
never moves what is being read. At the end the view follows; scrolled up it stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.geometry import Size
from textual.widget import Widget

from kimi_tui.ui.heights import Heights
from kimi_tui.ui.widgets.bar import Barred


class Anchored(Barred):
    """A subclass says how high a block is (`height_of`) and what it guesses (`guesses`)."""

    def __init__(self) -> None:
        super().__init__()
        self.following = True
        self._heights = Heights()
        self._known: list[bool] = []
        self._anchor = (0, 0)
        self._placing = False

    # --- what a subclass says ------------------------------------------------------------------------------------

    def height_of(self, position: int) -> int:
        """The rows of a block, measured."""
        raise NotImplementedError

    def guesses(self, start: int) -> Iterable[int]:
        """Guessed rows of the blocks from `start` on."""
        raise NotImplementedError

    def following_changed(self, following: bool) -> None:
        """Told when the view begins or ceases to follow the end."""

    # --- heights -------------------------------------------------------------------------------------------------

    def relist(self, start: int) -> None:
        """From this position on the list is another one."""
        if start == 0:
            self._heights = Heights(self.guesses(0))  # at once: much less work than one after the other
            self._known = [False] * len(self._heights)
            return
        self._heights.truncate(start)
        del self._known[start:]
        for height in self.guesses(start):
            self._heights.append(height)
            self._known.append(False)

    def _measure(self, position: int) -> int:
        if not self._known[position]:
            self._heights.set(position, self.height_of(position))
            self._known[position] = True
        return self._heights[position]

    @property
    def content_height(self) -> int:
        """All rows and a blank one at the end."""
        return self._heights.total + 1

    @property
    def inner_width(self) -> int:
        """Cells beside the scrollbar."""
        return max(0, self.size.width - self.scrollbar_size_vertical)

    def measure_ahead(self, screens: int) -> bool:
        """Measure the nearest block within so many screens of the view that is not known yet. What is being read does
        not move. False when all are known."""
        position = self._unknown_near(screens * self.size.height)
        if position is None:
            return False
        self._measure(position)
        Anchored.settle(self, paint=False)
        return True

    def _unknown_near(self, rows: int) -> int | None:
        """Above the view first: that is where one scrolls to."""
        first, _ = self._anchor
        ways = (range(first - 1, -1, -1), range(first, len(self._heights)))
        for way, left in zip(ways, (rows, rows + self.size.height), strict=True):
            for position in way:
                if left <= 0:
                    break
                if not self._known[position]:
                    return position
                left -= self._heights[position]
        return None

    # --- the place -----------------------------------------------------------------------------------------------

    def settle(self, *, paint: bool = True) -> None:
        """Measure what is in sight, put the view where it belongs, and paint."""
        height = self.size.height
        if not height or not self.is_mounted:
            return
        if self.following:
            self._measure_up(len(self._heights), height)
            self._place(self.content_height - height)
        else:
            first, row = self._anchor
            self._measure_down(first, height + row)
            row = min(row, max(0, self._heights[first] - 1)) if len(self._heights) else 0
            self._place(self._heights.top(first) + row)
        if paint:
            self.refresh()

    def _measure_up(self, position: int, rows: int) -> None:
        """Know the heights of so many rows above a block."""
        while position > 0 and rows > 0:
            position -= 1
            rows -= self._measure(position)

    def _measure_down(self, position: int, rows: int) -> None:
        """Know the heights of so many rows from a block on."""
        while position < len(self._heights) and rows > 0:
            rows -= self._measure(position)
            position += 1

    def _place(self, y: int) -> None:
        """Scroll without a layout: setting `virtual_size` the usual way would lay out the whole screen."""
        height = self.content_height
        y = max(0, min(y, height - self.size.height))
        self._anchor = self._heights.find(y)
        self.set_reactive(Widget.virtual_size, Size(self.inner_width, height))
        self._placing = True
        try:
            self.scroll_target_y = y
            self.scroll_y = y
        finally:
            self._placing = False
        bar = self.vertical_scrollbar
        bar.window_virtual_size = height
        bar.window_size = self.size.height
        bar.position = y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
            self._moved(round(new_value) - round(old_value), round(new_value))

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """A new size clamps the scroll position; that is not the reader scrolling."""
        self._placing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._placing = False

    def _moved(self, by: int, y: int) -> None:
        """The user scrolled: find the new anchor by rows that are really there, not by guesses."""
        first, row = self._anchor
        if -2 * self.size.height <= by < 0:
            self._measure_up(first, -by - row)
            y = max(0, self._heights.top(first) + row + by)
        self._follow(y >= self.content_height - self.size.height)
        self._anchor = self._heights.find(y)
        self.settle()

    def _follow(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.following_changed(following)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._follow(True)
        self.settle()

    def start(self) -> None:
        """Go to the very first row, whatever has been guessed of those on the way."""
        self._follow(self.content_height <= self.size.height)
        self._anchor = (0, 0)
        self.settle()

    def action_scroll_home(self) -> None:
        self.start()

    def _scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> bool:
        """Never animated: the rows on the way would all have to be measured, and a reader wants to be there."""
        return super()._scroll_to(x, y, **{**options, "animate": False})
