"""Fields for text, of one line and of several: keys mean what they do in the order in which they were pressed, and
what a reader takes for one character is one.

Textual inserts a letter at once, but a key with a binding (Backspace, Left, Ctrl+U) climbs up to the app before it does
anything. Letters that come in the same moment, as they do from a fast typist or over a slow line, overtake it.
"""

from __future__ import annotations

import re

from rich.style import Style
from rich.text import Text as RichText
from textual import events
from textual.document._document import EditResult
from textual.document._document_navigator import DocumentNavigator
from textual.widget import Widget
from textual.widgets import Input, TextArea

from kimi_tui.ui import clusters
from kimi_tui.ui.clustered import Clustered
from kimi_tui.ui.text import OBEYED

_HALF = re.compile("[\ud800-\udfff]")
_NOTHING = "\u034f"
"""A sign without width that joins what it stands between."""


class Shown(RichText):
    """A line as it is drawn: the caret covers a cluster as a whole (in two halves an emoji would be two), and what a
    terminal would obey takes the room that it was measured to have, which is none, and does nothing."""

    def __init__(self, line: str) -> None:
        shown = _HALF.sub("\ufffd", OBEYED.sub(_NOTHING, line))
        super().__init__(shown, no_wrap=True, overflow="ignore", end="")

    def stylize(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        if end is not None:
            start, end = clusters.around(self.plain, start)[0], clusters.around(self.plain, end)[1]
        super().stylize(style, start, end)


async def at_once(field: Widget, event: events.Key) -> None:
    """Do what the field's own bindings say about the key, before the next one comes."""
    for binding in field._bindings.key_to_bindings.get(event.key, ()):
        if not binding.priority and await field.app.run_action(binding.action, field):
            event.stop()
            event.prevent_default()
            return


class Field(Input):
    """One line."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key in clusters.JOINERS:
            event.stop()
            self.insert_text_at_cursor(clusters.JOINERS[event.key])
            return
        await at_once(self, event)

    @property
    def _value(self) -> RichText:
        return Shown(self.value.replace("\t", " "))

    def action_cursor_left(self, select: bool = False) -> None:
        if select or not self.selection.is_empty:
            super().action_cursor_left(select)
        else:
            self.cursor_position = clusters.before(self.value, self.cursor_position)

    def action_cursor_right(self, select: bool = False) -> None:
        if select or not self.selection.is_empty or self.cursor_at_end:
            super().action_cursor_right(select)
        else:
            self.cursor_position = clusters.after(self.value, self.cursor_position)

    def action_delete_left(self) -> None:
        if self.selection.is_empty:
            self.delete(clusters.before(self.value, self.cursor_position), self.cursor_position)
        else:
            super().action_delete_left()

    def action_delete_right(self) -> None:
        if self.selection.is_empty:
            self.delete(self.cursor_position, clusters.after(self.value, self.cursor_position))
        else:
            super().action_delete_right()


class Text(TextArea):
    """Several lines."""

    async def _on_key(self, event: events.Key) -> None:
        await at_once(self, event)

    def get_line(self, line_index: int) -> RichText:
        return Shown(self.document.get_line(line_index))

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        self.wrapped_document = Clustered(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._rewrap_and_refresh_virtual_size()

    def clamp_visitable(self, location: tuple[int, int]) -> tuple[int, int]:
        """Whatever puts the caret somewhere, it is never inside of a cluster: then it stands behind it."""
        row, column = super().clamp_visitable(location)
        return row, clusters.around(self.document.get_line(row), column)[1]

    def get_cursor_word_left_location(self) -> tuple[int, int]:
        row, column = super().get_cursor_word_left_location()
        return row, clusters.around(self.document.get_line(row), column)[0]

    def _delete_via_keyboard(self, start: tuple[int, int], end: tuple[int, int]) -> EditResult | None:
        """Never half of a cluster."""
        (row, column), last = sorted((start, end))
        first = row, clusters.around(self.document.get_line(row), column)[0]
        return super()._delete_via_keyboard(first, self.clamp_visitable(last))

    def get_cursor_left_location(self) -> tuple[int, int]:
        row, column = self.cursor_location
        if column == 0:
            return super().get_cursor_left_location()
        return row, clusters.before(self.document.get_line(row), column)

    def get_cursor_right_location(self) -> tuple[int, int]:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        return (row, clusters.after(line, column)) if column < len(line) else super().get_cursor_right_location()
