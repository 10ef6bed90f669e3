"""What the panels above the prompt have in common: guarded options, an own answer in words, and manners about focus.

A panel never takes the focus by itself: the app calls `answer_now()` on Tab, or `offer()` when nothing is being typed.
It posts `Emptied` when nothing is asked any more (the focus belongs to the prompt again), and its options post
`GuardedOptions.Typed(text)` for letters that were meant for the prompt.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from kimi_tui.ui.keymap import USUAL, Names
from kimi_tui.ui.tones import stylesheet
from kimi_tui.ui.widgets.guarded import GuardedOptions
from kimi_tui.ui.widgets.options import Options
from kimi_tui.ui.widgets.sheet import Sheet

LOW = 22
"""Rows of the window below which the panel has no air."""
AROUND = 4
"""Rows of the window that are not for the chat; of the others a panel takes six tenths at most."""


class Panel(Vertical):
    """A subclass composes `options`, one Input and Sheets, and says in `asking` whether something is asked."""

    DEFAULT_CSS = stylesheet("panels")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave_words", show=False)]
    names: Names = USUAL
    """Of the keys that the hints tell of."""

    class Emptied(Message):
        pass

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.options = GuardedOptions(classes="options")
        self._fitted = 0

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._make_room)

    def _make_room(self, screen: Screen[object]) -> None:
        """What is asked about may be long: it scrolls in what the answers, which are always in sight, leave of it."""
        height = screen.size.height
        if height == self._fitted:
            return
        self._fitted = height
        room, low = (height - AROUND) * 6 // 10, height < LOW
        self.set_class(low, "-low")
        self._hints_changed()
        self.options.styles.max_height = max(1, room - 2)
        for body in self.query(".scrolled"):
            body.styles.max_height = max(1, room - (5 if low else 7))

    @property
    def asking(self) -> bool:
        raise NotImplementedError

    def answer_now(self) -> None:
        """The user wants to answer (Tab): digits choose at once."""
        self._focus(on_purpose=True)

    def offer(self) -> None:
        """Nothing is being typed: take the focus, but guard it."""
        self._focus(on_purpose=False)

    def _focus(self, *, on_purpose: bool) -> None:
        if self.asking:
            self.options.on_purpose = on_purpose
            self.options.focus()

    def hint(self, action: str, usual: str, does: str) -> tuple[str, str]:
        """A key of the main screen, whatever it is now, and what it does."""
        return self.names(action, usual), does

    @property
    def focused_here(self) -> bool:
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors

    def start_anew(self) -> None:
        """Something else is asked, or nothing any more."""
        self.set_class(self.asking, "-asking")
        self.remove_class("-words")
        self.query_one(Input).value = ""
        if not self.asking:
            self.options.on_purpose = False
            self.post_message(self.Emptied())

    def told_anew(self) -> None:
        """Draw what is asked."""
        self.options.cursor = 0
        self.options.guard()
        for sheet in self.query(Sheet):
            sheet.changed()

    def ask_for_words(self) -> None:
        self.add_class("-words")
        self.query_one(Input).focus()
        self._hints_changed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Esc is ours while words are typed; elsewhere it stops the turn."""
        return self.has_class("-words") if action == "leave_words" else True

    def action_leave_words(self) -> None:
        self.remove_class("-words")
        self.options.focus()

    @on(Options.Highlighted)
    def _keep(self, event: Options.Highlighted) -> None:
        event.stop()

    def on_descendant_focus(self) -> None:
        self._hints_changed()

    def on_descendant_blur(self) -> None:
        self._hints_changed()

    def _hints_changed(self) -> None:
        for sheet in self.query(".head, .hints").results(Sheet):  # none yet, or none any more, when the window changes
            sheet.changed()
