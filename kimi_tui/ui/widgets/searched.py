"""A list that narrows down while one types: `/` starts, Enter keeps what is found, Esc takes it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from kimi_tui.ui.cells import literal
from kimi_tui.ui.widgets.lines import Lines

Item = TypeVar("Item")


class SearchedLines(Lines):
    """Takes the keys of the query while `searching`; a subclass narrows down in `sought`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "search", "search", key_display="/")]
    LEADING_KEYS: ClassVar[frozenset[str]] = frozenset()
    """Printable keys that stay commands as long as the query is empty (`space`)."""

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.searching = False
        self.query_text = ""

    def sought(self, query: str) -> None:
        """The query is another one."""
        raise NotImplementedError

    def search_changed(self) -> None:
        """Searching began or ended."""

    def action_search(self) -> None:
        self.searching = True
        self.search_changed()

    def stop_search(self) -> bool:
        """Takes the query back; False when there was none."""
        if not (self.searching or self.query_text):
            return False
        self.searching = False
        self._seek("")
        return True

    def on_key(self, event: events.Key) -> None:
        if not self.searching:
            return
        if event.key == "enter" and self.ends_search():
            self.searching = False
            self.search_changed()
        elif event.key == "backspace":
            self._seek(self.query_text[:-1])
        elif event.is_printable and event.character and (self.query_text or event.key not in self.LEADING_KEYS):
            self._seek(self.query_text + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def ends_search(self) -> bool:
        """Whether Enter ends the search; else it chooses at once."""
        return True

    def on_paste(self, event: events.Paste) -> None:
        if self.searching:
            event.stop()
            self._seek(self.query_text + literal(event.text))

    def _seek(self, query: str) -> None:
        self.query_text = query
        self.sought(query)
        self.search_changed()


class PickList(SearchedLines, Generic[Item]):
    """A searched list of items of one kind. A subclass draws them and says what they are found by.

    Posts `Highlighted`, `Chosen` and `Searched`; what is under the cursor is `item`.
    """

    class Highlighted(Message):
        pass

    class Chosen(Message):
        pass

    class Searched(Message):
        pass

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.items: list[Item] = []
        self.shown: list[Item] = []

    def words(self, item: Item) -> str:
        """What the item is found by."""
        raise NotImplementedError

    def same(self, one: Item, other: Item) -> bool:
        """Whether both are the same thing, told twice."""
        return one == other

    def show(self, items: Sequence[Item]) -> None:
        """Shows these; the cursor stays on its item where that is still there."""
        kept = self.item
        self.items = list(items)
        self._sift()
        if kept is not None:
            places = (place for place, item in enumerate(self.shown) if self.same(item, kept))
            self.cursor = next(places, min(self.cursor, max(0, len(self.shown) - 1)))
        self.resized()
        self.reveal(self.cursor)
        self.moved()

    def renew(self, item: Item) -> None:
        """There is news of one of them; order, cursor and place stay."""
        self.items = [item if self.same(item, known) else known for known in self.items]
        self.shown = [item if self.same(item, known) else known for known in self.shown]
        self.refresh()

    @property
    def item(self) -> Item | None:
        return self.shown[self.cursor] if self.cursor < len(self.shown) else None

    def total(self) -> int:
        return len(self.shown)

    def sought(self, query: str) -> None:
        self._sift()
        self.cursor = 0
        self.resized()
        self.scroll_to(y=0, animate=False, immediate=True)
        self.moved()

    def _sift(self) -> None:
        parts = self.query_text.casefold().split()
        self.shown = [item for item in self.items if all(part in self.words(item).casefold() for part in parts)]

    def moved(self) -> None:
        self.post_message(self.Highlighted())

    def chosen(self) -> None:
        self.post_message(self.Chosen())

    def search_changed(self) -> None:
        self.post_message(self.Searched())
