"""What waits while a turn runs: steers for it, prompts for after it. Takes no room while nothing waits.

With the focus it has a cursor: one text can be taken out to be written anew, or for good; the others stay in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from kimi_tui.ui.rows import Piece, shorten, spread
from kimi_tui.ui.text import one_line
from kimi_tui.ui.widgets.line import Line

MOST = 4
"""Rows."""

Kind = Literal["steers", "prompts"]
Place = tuple[Kind, int]
"""A queue, and how many wait in it before."""

_WORDS: dict[Kind, str] = {"steers": "steer", "prompts": "then"}


class Queue(Line, can_focus=True):
    """One row a waiting text, and how to take it back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "the one before", show=False),
        Binding("down", "move(1)", "the one after", show=False),
        Binding("enter", "take", "edit it in the prompt", show=False),
        Binding("delete,backspace", "drop", "remove it", show=False),
        Binding("ctrl+u", "take_all", "take all back into the prompt", show=False),
        Binding("escape", "leave", "back to the prompt", show=False),
    ]

    @dataclass
    class Taken(Message):
        """This text, at that place of its queue, is to be edited or (`drop`) removed."""

        queue: Kind
        place: int
        text: str
        drop: bool = False

    class AllTaken(Message):
        pass

    @dataclass
    class Typed(Message):
        text: str

    class Left(Message):
        pass

    waiting: tuple[tuple[Kind, str], ...] = ()
    cursor = 0

    def show(self, steers: tuple[str, ...], prompts: tuple[str, ...]) -> None:
        steering: list[tuple[Kind, str]] = [("steers", text) for text in steers]
        waiting = (*steering, *(("prompts", text) for text in prompts))
        if waiting == self.waiting:
            return
        under = self.waiting[self.cursor] if self.cursor < len(self.waiting) else None
        self.waiting = waiting
        self.cursor = waiting.index(under) if under in waiting else max(0, min(self.cursor, len(waiting) - 1))
        if not waiting and self.has_focus:
            self.post_message(self.Left())
        self.styles.height = min(MOST, len(waiting))
        self.display = bool(waiting)
        self.refresh()

    def on_mount(self) -> None:
        self.display = False

    # --- the cursor ----------------------------------------------------------------------------------------------

    def enter_at_end(self) -> None:
        """Come here from the prompt below: to the newest."""
        self.cursor = max(0, len(self.waiting) - 1)
        self.focus()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character:
            event.stop()
            self.post_message(self.Typed(event.character))

    def on_click(self, event: events.Click) -> None:
        number = self._first + event.y
        if number < len(self.waiting):
            again = self.has_focus and number == self.cursor
            self.cursor = number
            self.refresh()
            if again:
                self.action_take()

    def action_move(self, by: int) -> None:
        if self.cursor + by >= len(self.waiting):
            self.action_leave()
        else:
            self.cursor = max(0, self.cursor + by)
            self.refresh()

    def action_take(self, drop: bool = False) -> None:
        if self.cursor < len(self.waiting):
            queue, text = self.waiting[self.cursor]
            before = sum(kind == queue for kind, _ in self.waiting[: self.cursor])
            self.post_message(self.Taken(queue, before, text, drop))

    def action_drop(self) -> None:
        self.action_take(drop=True)

    def action_take_all(self) -> None:
        self.post_message(self.AllTaken())

    def action_leave(self) -> None:
        self.post_message(self.Left())

    # --- painting ------------------------------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        """The text in the first row: the one under the cursor is in sight."""
        return max(0, self.cursor - MOST + 1) if self.has_focus else 0

    def row(self, y: int, width: int) -> tuple[Piece, ...]:
        number = self._first + y
        here = self.has_focus and number == self.cursor
        if y == MOST - 1 and len(self.waiting) > number + 1 and not here:
            return (Piece(f"  … {len(self.waiting) - number} more", "faint"),)
        kind, text = self.waiting[number]
        left = [Piece("› " if here else "  ", "moved strong"), Piece(f"{_WORDS[kind]:<6}", "moved")]
        left.append(Piece(shorten(one_line(text), width), "" if here else "quiet"))
        return spread(left, self._keys(number, here), width)

    def _keys(self, number: int, here: bool) -> list[Piece]:
        if here:
            keys = (("enter", "edit"), ("del", "remove"))
            said = [piece for key, does in keys for piece in (Piece(f"  {key}", "moved"), Piece(f" {does}", "faint"))]
            return [*said, Piece(" ")]
        return [Piece("up", "moved"), Piece(" to edit ", "faint")] if number == 0 and not self.has_focus else []

    def render_line(self, y: int) -> Strip:
        pieces = self.row(y, self.size.width) if self._first + y < len(self.waiting) else ()
        segments = [Segment(piece.text, self.palette(piece.style)) for piece in pieces]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)
