"""The find bar over the prompt: what is looked for, and which of the matches is in sight.

Posts `Sought` when the words change, `Moved` for Enter and the arrows, `Closed` for Esc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from kimi_tui.ui.widgets.fields import Field


class Finder(Horizontal):
    """See the module. Takes no room while it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "back", show=False),
        Binding("up,shift+enter", "move(-1)", "older match", show=False, priority=True),
        Binding("down", "move(1)", "newer match", show=False, priority=True),
    ]

    @dataclass
    class Sought(Message):
        query: str

    @dataclass
    class Moved(Message):
        by: int

    class Closed(Message):
        pass

    sought = ""
    """The words in the bar."""

    def compose(self) -> ComposeResult:
        yield Static("find", classes="label", markup=False)
        yield Field(compact=True)
        yield Static("", classes="count", markup=False)

    def open(self) -> None:
        self.add_class("-open")
        self.screen.set_focus(self.query_one(Input))  # at once: what is typed next is looked for

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def count(self, number: int, total: int) -> None:
        """`3 of 17`; the newest is the last."""
        words = f"{number} of {total}" if total else "nothing found" if self.query_one(Input).value else ""
        self.query_one(".count", Static).update(f"{words}  ↑↓ enter  esc ")

    @on(Input.Changed)
    def _sought(self, event: Input.Changed) -> None:
        event.stop()
        self.sought = event.value
        self.post_message(self.Sought(event.value))

    @on(Input.Submitted)
    def _older(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_move(-1)

    def action_move(self, by: int) -> None:
        self.post_message(self.Moved(by))

    def action_close(self) -> None:
        self.remove_class("-open")
        self.query_one(Input).value = ""
        self.post_message(self.Closed())
