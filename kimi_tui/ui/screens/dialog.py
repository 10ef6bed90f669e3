"""A question over a dimmed screen: facts, then things to choose, the safe one first. Esc changes nothing.

`Dialog` is the frame, `Ask` the simple form of it: its result is the chosen option's key, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget

from kimi_tui.ui.cells import cut
from kimi_tui.ui.tones import Rows, hint_row, stylesheet
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

Result = TypeVar("Result")


class Dialog(ModalScreen[Result], Generic[Result]):
    """See the module. A subclass composes `body`."""

    DEFAULT_CSS = stylesheet("dialogs")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss_nothing", "back", show=False)]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False):
            yield from self.body()

    def body(self) -> ComposeResult:
        raise NotImplementedError

    def on_resize(self, event: events.Resize) -> None:
        """On a low screen the air goes first. (The app puts names of its own for sizes on every screen.)"""
        self.set_class(event.size.height < 24, "-short")

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog closes it."""
        if event.widget is self:
            self.action_dismiss_nothing()

    def action_dismiss_nothing(self) -> None:
        self.dismiss(None)


class Ask(Dialog[str]):
    """A title, what there is to know, and options."""

    def __init__(self, title: str, options: Sequence[Option], about: str = "", tone: str = "moved") -> None:
        super().__init__()
        self._title, self._options, self._about, self._tone = title, options, about, tone

    def body(self) -> ComposeResult:
        yield Sheet(self._say)
        yield from self.details()
        yield self.listing()
        yield Sheet(lambda width: [hint_row((("enter", "choose"), ("esc", "back")), width)])

    def details(self) -> Iterable[Widget]:
        """What stands between the question and its answers."""
        return ()

    def listing(self) -> Widget:
        return Options(self._options, classes="options")

    def _say(self, width: int) -> Rows:
        rows: Rows = [[(cut(self._title, width), f"strong {self._tone}")]]
        if self._about:
            rows += paragraph(self._about, width, "quiet", 12)
        return rows

    @on(Options.Chosen)
    def _choose(self, event: Options.Chosen) -> None:
        event.stop()
        self.dismiss(event.key)
