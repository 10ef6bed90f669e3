"""A page whose list narrows down as one types: Enter takes what is under the cursor, Esc empties the query first."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual import on

from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.sheet import Sheet

Item = TypeVar("Item")


class TypedList(PickList[Item], Generic[Item]):
    """Always searching."""

    def __init__(self, marks: Marks = UNICODE, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.searching = True

    def called(self, item: Item) -> str:
        """What the item is called: this counts more than what is said about it."""
        return self.words(item)

    def sought(self, query: str) -> None:
        super().sought(query)
        self.shown.sort(key=self._distance)
        self.moved()

    def _distance(self, item: Item) -> int:
        name, query = self.called(item).casefold(), self.query_text.casefold().strip().lstrip("/")
        return 0 if name.startswith(query) else 1 if query in name else 2

    def ends_search(self) -> bool:
        return False


class Typed(Page, Generic[Item]):
    """A subclass says which list it is about and what `use` does."""

    listing: TypedList[Item]

    def use(self, item: Item) -> None:
        """It was chosen."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.listing.focus()

    def searched(self) -> TypedList[Item]:
        return self.listing

    @on(PickList.Highlighted)
    def _aim(self) -> None:
        self.query_one(".about", Sheet).changed()

    @on(PickList.Chosen)
    def _chosen(self) -> None:
        if (item := self.listing.item) is not None:
            self.use(item)

    def action_back(self) -> None:
        if self.listing.query_text:
            self.listing.stop_search()
            self.listing.searching = True
            self.frame_changed()
        else:
            self.dismiss()
