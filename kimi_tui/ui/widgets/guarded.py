"""Options that cannot be chosen by accident, for questions that appear while someone types.

- For `GRACE` seconds after they appeared or after a letter, and as long as keys keep coming, nothing is an answer.
- Letters are never an answer: they are handed on (`Typed`) for the prompt.
- A digit only moves the cursor unless the user came here on purpose (Tab, a click); then it chooses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from textual import events
from textual.message import Message

from kimi_tui.ui.widgets.options import Options

GRACE = 0.3
"""Seconds without a key after which keys count."""


class GuardedOptions(Options):
    """See the module."""

    @dataclass
    class Typed(Message):
        """Text that was meant for the prompt."""

        text: str

    @dataclass
    class Paged(Message):
        """Page Up (-1) or Page Down (1): there is something above the options to be read."""

        by: int

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__((), numbered=True, classes=classes)
        self.on_purpose = False
        self.digits_choose = True
        """False where several can be chosen: a digit then only moves."""
        self.clock = time.monotonic
        self._last_key = 0.0

    def guard(self) -> None:
        """Something new is asked: start the time of grace."""
        self._last_key = self.clock()

    def _settled(self) -> bool:
        """Whether the user has seen what is asked. A key that comes too early makes the wait longer."""
        now = self.clock()
        settled = now - self._last_key >= GRACE
        if not settled:
            self._last_key = now
        return settled

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "tab", "shift+tab") or event.key.startswith("ctrl+"):
            return
        if not self._settled():
            self._hand_on(event)
        elif event.character and event.character in "123456789":
            self._digit(int(event.character) - 1)
            event.stop()
        elif event.is_printable and event.key != "space":
            self._hand_on(event)

    def _digit(self, index: int) -> None:
        if index >= self.total():
            return
        self.rest(index)
        if self.on_purpose and self.digits_choose:
            self.chosen()

    def _hand_on(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self._last_key = self.clock()  # what follows right after, a blank too, is part of the same text
        if event.is_printable and event.character:
            self.post_message(self.Typed(event.character))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Typed(event.text))

    def action_page(self, by: int) -> None:
        self.post_message(self.Paged(by))

    def clicked(self, index: int, x: int) -> None:
        if self._settled():
            self.action_choose()
