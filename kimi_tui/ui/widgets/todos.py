"""The to-do list above the prompt, unfolded; folded it takes no room, and the activity row says how far it is."""

from __future__ import annotations

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from kimi_tui.protocol.views import TodoItem
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.rows import Piece, shorten
from kimi_tui.ui.text import one_line
from kimi_tui.ui.widgets.line import Line

MOST = 10
"""Rows; fewer in a low window."""


class Todos(Line):
    """One row an item. A longer list shows the part around what is being done."""

    class Folded(Message):
        """It was clicked."""

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.marks = marks
        self.todos: tuple[TodoItem, ...] = ()
        self.unfolded = False

    def show(self, todos: tuple[TodoItem, ...]) -> None:
        if todos != self.todos:
            self.todos = todos
            self._fit()

    def toggle(self) -> None:
        self.unfolded = not self.unfolded
        self._fit()

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Folded())

    def fit_into(self, height: int) -> None:
        """The window is that high."""
        self._most = max(2, min(MOST, height // 4))
        self._fit()

    _most = MOST

    def _fit(self) -> None:
        self.set_class(self.unfolded and bool(self.todos), "-open")
        self.styles.height = max(1, min(self._most, len(self.todos)))
        self.refresh()

    @property
    def _first(self) -> int:
        """The item in the first row: what is being done, or is next, is in sight, with one before it."""
        at = next((number for number, todo in enumerate(self.todos) if todo.status != "done"), len(self.todos))
        at = next((number for number, todo in enumerate(self.todos) if todo.status == "in_progress"), at)
        return max(0, min(at - 1, len(self.todos) - self._most))

    def row(self, y: int, width: int) -> tuple[Piece, ...]:
        first, count = self._first, len(self.todos)
        number = first + y
        if number >= count:
            return ()
        if y == self._most - 1 and count - number > 1:
            return (Piece(f"  {self.marks.more} {count - number} more", "faint"),)
        todo = self.todos[number]
        sign, tone, words = {
            "done": (self.marks.ok, "good", "faint"),
            "in_progress": (self.marks.running, "now", "strong"),
            "pending": (self.marks.gone, "quiet", "quiet"),
        }[todo.status]
        return Piece(f"  {sign} ", tone), Piece(shorten(one_line(todo.title), width - 5), words)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        segments = [Segment(piece.text, self.palette(piece.style)) for piece in self.row(y, width)]
        return Strip(segments).adjust_cell_length(width, self.rich_style)
