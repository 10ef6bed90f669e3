"""Ctrl+P: everything that can be done here, to be searched and done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual.app import ComposeResult

from kimi_tui.ui.cells import literal, plural
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.offers import Offer
from kimi_tui.ui.screens.typed import Typed, TypedList
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

NAME = 26
"""Cells of the column with the names."""


class OfferList(TypedList[Offer]):
    """Name, what it does, and the key that does it at once."""

    def words(self, item: Offer) -> str:
        return f"{item.name} {item.about} {item.key}"

    def called(self, item: Offer) -> str:
        return item.name.lstrip("/")

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        lead: Span = (self.marks.cursor if index == self.cursor else " ", "now")
        name = literal(item.name)
        left: list[Span] = [(f" {name}" if item.kind == "press" else f" {name}{' ' * (NAME - cell_len(name))}", "")]
        left += [(f"  {literal(item.about)}", "quiet")] if item.about else []
        return [lead, *spread(left, [(item.key, "moved")], width - 2)]

    def about(self, width: int) -> Rows:
        item = self.item
        if item is None:
            return [[("nothing here is called like that", "quiet")]]
        then = {"run": "enter runs it", "write": "enter writes it into the prompt", "press": "enter does it"}[item.kind]
        rows = paragraph(item.about, width, "", 3) if item.about else []
        return [[(literal(item.name), "strong"), (f"  {then}", "quiet")], *rows]


class CommandPalette(Typed[Offer]):
    """See the module. `do` is called with what was chosen, when the palette is gone."""

    def __init__(self, offers: Sequence[Offer], do: Callable[[Offer], object], marks: Marks = UNICODE) -> None:
        super().__init__()
        self.listing = self.list = OfferList(marks, classes="listing")
        self._offers = offers
        self._do = do

    def body(self) -> ComposeResult:
        yield self.list
        yield Sheet(self.list.about, classes="about")

    def on_mount(self) -> None:
        super().on_mount()
        self.listing.show(self._offers)

    def use(self, item: Offer) -> None:
        self.dismiss()
        self.app.call_later(self._do, item)

    def title_words(self) -> str:
        return "COMMANDS"

    def facts(self, width: int) -> str:
        return plural(len(self.listing.shown), "thing to do", "things to do")

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "do it"), ("type", "search"), ("esc", "back"))
