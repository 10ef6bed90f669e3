"""A text to be read, scrolled with the keyboard or the mouse, that may grow at its end while it is read.

Whoever stands at the end stays there; whoever has scrolled up is not moved.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events

from kimi_tui.ui.rows import breaks
from kimi_tui.ui.text import clean
from kimi_tui.ui.tones import Rows, Span
from kimi_tui.ui.widgets.roll import Roll

LONG = 4000
"""Signs of a line beyond which nobody reads words."""


def printed(text: str, width: int, tones: str = "", indent: str = "") -> Rows:
    """What a program printed, in rows. Takes time in proportion to the text, however long its lines are."""
    room = max(1, width - len(indent))
    lines = clean(text.rstrip("\n")).split("\n")
    return [[(indent + line[start:end], tones)] for line in lines for start, end in _parts(line, room)]


def _parts(line: str, room: int) -> list[tuple[int, int]]:
    """Broken between words; a very long line without a thought, as terminals do."""
    if len(line) > LONG and line.isascii():
        return [(start, start + room) for start in range(0, len(line), room)]
    return [(start, end) for start, end, _ in breaks(line, room)]


class Readout(Roll, can_focus=True):
    """See the module. `say` hands a function from the width to the rows over."""

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._say: Callable[[int], Rows] = lambda width: []
        self._said: tuple[int, Rows] = (-1, [])

    @property
    def at_end(self) -> bool:
        return self.scroll_offset.y >= max(0, self.total() - self.page_height)

    def say(self, say: Callable[[int], Rows], *, end: bool = False) -> None:
        """Show this instead; `end` goes to its end, else the place stays."""
        self._say, self._said = say, (-1, [])
        self.resized()
        if end:
            self.go_to_end()

    def go_to_end(self) -> None:
        self.scroll_to(y=max(0, self.total() - self.page_height), animate=False, immediate=True, force=True)

    def on_resize(self, event: events.Resize) -> None:
        self.resized()

    def _rows(self, width: int) -> Rows:
        if self._said[0] != width:
            self._said = (width, self._say(max(1, width)))
        return self._said[1]

    def total(self) -> int:
        return len(self._rows(self.inner_width))

    def spans(self, index: int, width: int) -> list[Span]:
        return self._rows(width)[index]
