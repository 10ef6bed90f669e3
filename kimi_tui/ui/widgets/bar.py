"""The scrollbar of long lists: what its rows can look like is made once, since it is painted whenever they move."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

EIGHTHS = " ▁▂▃▄▅▆▇"
"""By how many eighths of a row are filled, from below."""
GRAB, BACK, ON = ({"@mouse.down": action} for action in ("grab", "scroll_up", "scroll_down"))


@dataclass(frozen=True, slots=True)
class Ink:
    """What rows can look like: above, on and below the thumb, and where it begins or ends within a row."""

    above: Strip
    thumb: Strip
    below: Strip
    heads: tuple[Strip, ...]
    """By eighths of the row that the thumb has from below."""
    tails: tuple[Strip, ...]
    """By eighths of the row that are left of the ground below the thumb."""


@lru_cache(32)
def ink(color: Color, ground: Color, width: int) -> Ink:
    def strip(text: str, style: Style, meta: dict[str, str]) -> Strip:
        return Strip([Segment(text * width, style + Style(meta=meta))], width)

    plain = Style(color=color, bgcolor=ground)
    full = plain + Style(reverse=True)
    return Ink(
        strip(" ", plain, BACK),
        strip(" ", full, GRAB),
        strip(" ", plain, ON),
        tuple(strip(each, plain, GRAB) for each in EIGHTHS),
        tuple(strip(each, full, GRAB) for each in EIGHTHS),
    )


def bar(ink: Ink, height: int, total: float, page: float, position: float) -> list[Strip]:
    """The rows of a bar for a list of `total` rows of which `page` are in sight from `position` on."""
    if not 0 < page < total or height < 1:
        return [ink.above] * height
    length = max(8, round(8 * height * page / total))
    start = min(int((8 * height - length) * min(1.0, position / (total - page))), 8 * height - length)
    (first, cut), (last, rest) = divmod(start, 8), divmod(start + length, 8)
    rows = [ink.above] * first + [ink.thumb] * (last - first) + [ink.below] * (height - last)
    if cut:
        rows[first] = ink.heads[8 - cut]
    if rest:
        rows[last] = ink.tails[8 - rest]
    return rows


class Bar(ScrollBar):
    """See the module."""

    def render_lines(self, crop: Region) -> list[Strip]:
        color, ground = self._colors()
        page = self.window_size if self.window_size < self.window_virtual_size else 0
        rows = bar(
            ink(color, ground, self.size.width), self.size.height, self.window_virtual_size, page, self.position
        )[crop.y : crop.bottom]
        _, below = self.background_colors
        for line_filter in self.get_line_filters():
            rows = [row.apply_filter(line_filter, below) for row in rows]
        return rows if crop.column_span == (0, self.size.width) else [row.crop(*crop.column_span) for row in rows]

    def _colors(self) -> tuple[Color, Color]:
        """Of the thumb and of the ground, as the list's styles have them for how the mouse touches the bar."""
        assert isinstance(self.parent, Widget)
        styles = self.parent.styles
        if self.grabbed:
            color, ground = styles.scrollbar_color_active, styles.scrollbar_background_active
        elif self.mouse_over:
            color, ground = styles.scrollbar_color_hover, styles.scrollbar_background_hover
        else:
            color, ground = styles.scrollbar_color, styles.scrollbar_background
        if ground.a < 1:
            ground = self.parent.background_colors[0] + ground
        return (ground + color).rich_color, ground.rich_color


class Barred(ScrollView):
    """A view with such a bar."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = Bar(name="vertical", thickness=self.scrollbar_size_vertical)
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar
