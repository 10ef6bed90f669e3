"""A few rows that are as high as what they say: a subclass says it in `rows`, or hands a function over."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.ui.cells import cut, wrap
from kimi_tui.ui.tones import Rows, Tones, strip_of, stylesheet


def paragraph(text: str, width: int, tones: str, limit: int = 4) -> Rows:
    """`text` broken into at most `limit` rows; an ellipsis tells that something is missing."""
    rows = wrap(text, max(1, width))
    if len(rows) > limit:
        rows = [*rows[: limit - 1], cut(rows[limit - 1] + " …", width)]
    return [[(row, tones)] for row in rows]


class Sheet(Widget):
    """See the module."""

    DEFAULT_CSS = stylesheet("sheet")

    def __init__(self, say: Callable[[int], Rows] | None = None, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.tones = Tones(self)
        self._say = say
        self._said: tuple[int, Rows] | None = None

    def rows(self, width: int) -> Rows:
        """What it says at that width."""
        return self._say(width) if self._say else []

    def said(self, width: int) -> Rows:
        """The rows at that width, kept until they change."""
        if self._said is None or self._said[0] != width:
            self._said = (width, self.rows(width))
        return self._said[1]

    def say(self, say: Callable[[int], Rows]) -> None:
        """Say something else from now on."""
        self._say = say
        self.changed()

    KEEPS_LAST: ClassVar[bool] = False
    """Where there is no room for all rows, the last one stays: it says which keys there are."""

    def most(self) -> int:
        """No more rows than these."""
        return 10_000

    def changed(self) -> None:
        """Laid out anew only when it is in sight and grows or shrinks, else merely painted."""
        self._said = None
        if self.is_attached:
            height = min(len(self.said(self.content_size.width)), self.most())
            self.refresh(layout=self._is_as_high_as_it_says() and height != self.content_size.height)

    def _is_as_high_as_it_says(self) -> bool:
        height = self.styles.height
        return (height is None or height.is_auto) and all(node.display for node in self.ancestors_with_self)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self.said(width)), self.most())

    def notify_style_update(self) -> None:
        self.tones.forget()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width, height = self.content_size
        rows = self.said(width)
        if len(rows) > height and self.KEEPS_LAST:
            rows = [*rows[: max(0, height - 1)], rows[-1]]
        return strip_of(rows[y] if y < len(rows) else (), width, self.tones)
