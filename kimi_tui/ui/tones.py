"""Rows of literal text in the named tones of `palette`, on the ground of a list: where the cursor rests, where the
mouse hovers. Grounds may be translucent: they are mixed with what is below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.css.styles import RenderStyles
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.resources import folder
from kimi_tui.ui.cells import cut
from kimi_tui.ui.palette import COMPONENTS

Span = tuple[str, str]
"""A piece of a row: its text and its tones, divided by blanks (`"quiet"`, `"strong now"`, `""`)."""

Rows = list[list[Span]]

GROUNDS = frozenset({"row--cursor", "row--lit"})
"""The component classes of a list. Those of the tones are the main screen's, see `palette`."""


def stylesheet(*names: str) -> str:
    """The text of `styles/<name>.tcss`, for a widget's `DEFAULT_CSS`: it is then styled in any app."""
    return "\n".join(Path(folder("styles"), f"{name}.tcss").read_text(encoding="utf-8") for name in names)


class Tones:
    """Turns tone names into styles for one widget; forgotten whenever its styles change."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._known: dict[tuple[str, str], Style] = {}

    def forget(self) -> None:
        self._known.clear()

    def style(self, tones: str, ground: str = "") -> Style:
        key = (tones, ground)
        if key not in self._known:
            self._known[key] = self._mix(tones, ground)
        return self._known[key]

    def _mix(self, tones: str, ground: str) -> Style:
        _, _, background, color = self._widget.colors
        text = Style()
        for part in self._parts(tones, ground):
            if text.reverse:  # the row is turned over as a whole, or it would be a row of patches
                text += part.text_style
                continue
            if part.has_rule("background"):
                background = background + part.background
            if part.has_rule("color"):
                color = part.color
            text += part.text_style
        return Style.from_color(_solid(background, color), _solid(background, background)) + text

    def _parts(self, tones: str, ground: str) -> Iterator[RenderStyles]:
        yield from (self._widget.get_component_styles(f"row--{name}") for name in ground.split())
        keeper = next((one for one in self._widget.app.screen_stack if one.COMPONENT_CLASSES >= COMPONENTS), None)
        if keeper is not None:
            yield from (keeper.get_component_styles(f"text--{name}") for name in tones.split())


def _solid(background: Color, color: Color) -> RichColor:
    return (background + color).rich_color


def strip_of(spans: Iterable[Span], width: int, tones: Tones, ground: str = "") -> Strip:
    """A row of exactly `width` cells."""
    segments = [Segment(text, tones.style(names, ground)) for text, names in spans if text]
    return Strip(segments).adjust_cell_length(max(0, width), tones.style("", ground))


def spread(left: list[Span], right: list[Span], width: int) -> list[Span]:
    """`left` cut to what `right` leaves, with `right` at the end of the row. `right` goes when there is no room."""
    taken = sum(cell_len(text) for text, _ in right)
    if taken and taken + 2 > width // 2 + 4:
        right, taken = [], 0
    room = width - taken - (1 if taken else 0)
    row: list[Span] = []
    for text, tones in left:
        piece = cut(text, room)
        row.append((piece, tones))
        room -= cell_len(piece)
        if piece != text:
            break
    return [*row, (" " * (max(0, room) + (1 if taken else 0)), ""), *right]


def hint_row(keys: Sequence[tuple[str, str]], width: int) -> list[Span]:
    """`enter choose  esc back`, as many as fit; the last one, the way out, always does."""
    *others, last = keys
    room = width - len(last[0]) - len(last[1]) - 1
    row: list[Span] = []
    for key, word in others:
        room -= len(key) + len(word) + 3
        if room < 0:
            break
        row += [(key, "moved"), (f" {word}  ", "quiet")]
    return [*row, (last[0], "moved"), (f" {last[1]}", "quiet")]
