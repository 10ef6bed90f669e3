"""A page with a list at the left and what is chosen in it at the right; where two columns do not fit, they take turns.

Enter or Tab goes to the right, Esc comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.tones import Rows, stylesheet
from kimi_tui.ui.widgets.readout import Readout
from kimi_tui.ui.widgets.searched import PickList, SearchedLines
from kimi_tui.ui.widgets.sheet import Sheet


class Beside(Page):
    """See the module. A subclass has `listing`, and says `head` and what stands in `reading`."""

    DEFAULT_CSS = stylesheet("beside")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "swap", "list or text", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self.reading = Readout(classes="reading")

    @property
    def listing(self) -> SearchedLines:
        raise NotImplementedError

    @property
    def text(self) -> Widget:
        """What is read at the right, and has the focus there."""
        return self.reading

    def head(self, width: int) -> Rows:
        """What stands over the text."""
        raise NotImplementedError

    def list_keys(self) -> Sequence[tuple[str, str]]:
        raise NotImplementedError

    def read_keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓", "scroll"), ("esc", "list"))

    # --- the frame ------------------------------------------------------------------------------------------------

    def body(self) -> ComposeResult:
        with Horizontal():
            self.listing.add_class("left")
            yield self.listing
            with Vertical(classes="right"):
                yield Sheet(self.head, classes="head")
                yield from self.texts()

    def texts(self) -> ComposeResult:
        """All that may stand at the right, one of them at a time."""
        yield self.reading

    def on_mount(self) -> None:
        self.listing.focus()

    def searched(self) -> SearchedLines:
        return self.listing

    def keys(self) -> Sequence[tuple[str, str]]:
        return self.read_keys() if self.text.has_focus else self.list_keys()

    def head_changed(self) -> None:
        if self.is_mounted:
            self.query_one(".head", Sheet).changed()

    # --- going there and back -------------------------------------------------------------------------------------

    @on(PickList.Chosen)
    def _open(self) -> None:
        self._go(reading=True)

    def action_swap(self) -> None:
        self._go(reading=not self.text.has_focus)

    def action_back(self) -> None:
        if self.text.has_focus:
            self._go(reading=False)
        else:
            super().action_back()

    def _go(self, *, reading: bool) -> None:
        self.set_class(reading, "-reading")
        (self.text if reading else self.listing).focus()
