"""The frame of the screens that cover the chat: a headline, a body, key hints. Esc goes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from kimi_tui.protocol.events import Event
from kimi_tui.ui.cells import literal
from kimi_tui.ui.compositor import CloseCompositor
from kimi_tui.ui.tones import Rows, Span, hint_row, spread, stylesheet
from kimi_tui.ui.widgets.searched import PickList, SearchedLines
from kimi_tui.ui.widgets.sheet import Sheet

NARROW = 92
"""Cells below which what stands side by side takes turns."""
LOW = 20
"""Rows below which there is no air."""


class Page(Screen[None]):
    """See the module. A subclass says `title`, `facts` and `keys` and composes `body`."""

    DEFAULT_CSS = stylesheet("pages")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back")]

    def __init__(self) -> None:
        super().__init__()
        self._compositor = CloseCompositor()

    def compose(self) -> ComposeResult:
        yield Sheet(self._headline, classes="headline")
        yield from self.body()
        yield Sheet(lambda width: [hint_row(self.keys(), width)], classes="hints")

    # --- what a subclass says -------------------------------------------------------------------------------------

    def title_words(self) -> str:
        raise NotImplementedError

    def facts(self, width: int) -> str:
        """At the right of the headline."""
        return ""

    def keys(self) -> Sequence[tuple[str, str]]:
        """The last one is the way out."""
        return (("esc", "back"),)

    def body(self) -> ComposeResult:
        raise NotImplementedError

    def searched(self) -> SearchedLines | None:
        """The list that `/` narrows down."""
        return None

    def take(self, event: Event) -> None:
        """Hear what happens; see `ui/listening.py`."""

    # --- the frame ------------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """The app puts names of its own for sizes on every screen: these must not be among them."""
        self.set_class(event.size.width < NARROW, "-slim")
        self.set_class(event.size.height < LOW, "-short")

    def frame_changed(self) -> None:
        """The headline or the hints say something else."""
        if self.is_mounted:
            self.query_one(".headline", Sheet).changed()
            self.query_one(".hints", Sheet).changed()

    def _headline(self, width: int) -> Rows:
        left: list[Span] = [(self.title_words(), "strong quiet")]
        listing = self.searched()
        if listing is not None and (listing.searching or listing.query_text):
            end = "▏" if listing.searching else "  esc"
            left += [("  /", "moved"), (literal(listing.query_text), ""), (end, "now")]
        return [spread(left, [(self.facts(width), "quiet")], width)]

    @on(PickList.Searched)
    def _search(self) -> None:
        self.frame_changed()

    def on_descendant_focus(self) -> None:
        self.frame_changed()

    def action_back(self) -> None:
        listing = self.searched()
        if listing is None or not listing.stop_search():
            self.dismiss()
