"""One line of text: a checkpoint's name, a session's title. The result is the text, or None."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from kimi_tui.ui.cells import cut, literal
from kimi_tui.ui.screens.dialog import Dialog
from kimi_tui.ui.tones import hint_row
from kimi_tui.ui.widgets.fields import Field
from kimi_tui.ui.widgets.sheet import Sheet


class LinePrompt(Dialog[str]):
    """`title` says what for, `value` is what it is now; an empty line is an answer too."""

    def __init__(self, title: str, value: str = "", verb: str = "keep") -> None:
        super().__init__()
        self._title, self._value, self._verb = literal(title), value, verb

    def body(self) -> ComposeResult:
        yield Sheet(lambda width: [[(cut(self._title, width), "strong")]])
        yield Field(self._value, classes="line")
        yield Sheet(lambda width: [hint_row((("enter", self._verb), ("esc", "back")), width)])

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())
