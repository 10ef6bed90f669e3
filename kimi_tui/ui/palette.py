"""The names of the styles that rows may use. What they look like is written in `styles/chat.tcss`.

They are component classes of the main screen alone: on every widget they would cost a start of the app tenths of a
second, since Textual matches each of them against the whole style sheet.
"""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style
from textual.screen import Screen
from textual.widget import Widget

NAMES = (
    "quiet",
    "faint",
    "edge",
    "strong",
    "em",
    "strike",
    "code",
    "link",
    "heading",
    "bullet",
    "quote-bar",
    "user",
    "user-bar",
    "steer",
    "thinking",
    "now",
    "moved",
    "fold",
    "good",
    "bad",
    "added",
    "removed",
    "found",
    "cursor",
    "code-block",
    "code-comment",
    "code-keyword",
    "code-string",
    "code-number",
    "code-name",
    "code-builtin",
    "code-mark",
)

COMPONENTS = frozenset(f"text--{name}" for name in NAMES)


@lru_cache(maxsize=8_192)
def pixels(colors: str) -> Style:
    """`#rrggbb` or `#rrggbb#rrggbb`: one pixel in the colour of the text, the other one in that of the ground."""
    upper, _, lower = colors[1:].partition("#")
    return Style(color=f"#{upper}", bgcolor=f"#{lower}" if lower else None)


class Palette:
    """Looks styles up for one widget; forget it when the theme changes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[tuple[str, str], Style] = {}
        self.edition = object()
        """Another one when the same names may stand for other styles."""

    def forget(self) -> None:
        self._styles.clear()
        self.edition = object()

    @property
    def _main(self) -> Screen[object]:
        """The screen that has our component classes."""
        stack = self._widget.app.screen_stack
        return next((screen for screen in stack if screen.COMPONENT_CLASSES >= COMPONENTS), stack[0])

    def __call__(self, names: str, link: str = "") -> Style:
        """The style of one or several names, e.g. `link strong`, over the widget's own."""
        found = self._styles.get((names, link))
        if found is None and names.startswith("#"):
            return pixels(names)
        if found is None:
            found, main = self._widget.rich_style, self._main
            for name in names.split():
                if name in NAMES:
                    found += main.get_component_rich_style(f"text--{name}", partial=True)
            if link:
                found += Style(link=link)
            if len(self._styles) > 2_000:
                self._styles.clear()
            self._styles[names, link] = found
        return found
