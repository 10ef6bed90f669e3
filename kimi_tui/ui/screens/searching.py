"""Ctrl+F on the main screen: the find bar, the matches, and the chat that shows them."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from kimi_tui.protocol.commands import LoadEntries
from kimi_tui.ui.finding import matches
from kimi_tui.ui.screens.regions import Regions
from kimi_tui.ui.widgets.finder import Finder

CHUNK = 400
"""Entries loaded at once while the whole session is searched."""


class Searching(Regions):
    """See the module. Entries that are not loaded yet are asked for, newest first, while the bar is open."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+f", "find", "find in the chat", id="find", priority=True)]

    _query = ""
    _at: int | None = None
    """Position of the match in sight."""

    def action_find(self) -> None:
        """Open the bar; once more: to the next older match."""
        if self.finder.is_open and self.finder.has_focus_within:
            self._go(-1)
            return
        self.finder.open()
        self._load_more()

    def _load_more(self) -> None:
        missing = [number for number, block in enumerate(self.conversation.blocks) if block.entry is None]
        if missing and self.finder.is_open:
            end = (self.conversation.index(missing[-1]) or 0) + 1
            self.submit(LoadEntries(max(0, end - CHUNK), end))

    def entries_loaded(self) -> None:
        """More of the session can be searched now."""
        if self.finder.is_open:
            self._tell()
            self._load_more()

    @on(Finder.Sought)
    def _seek(self, event: Finder.Sought) -> None:
        self._query, self._at = event.query, None
        self.transcript.mark(event.query)
        self._go(-1)

    @on(Finder.Moved)
    def _move(self, event: Finder.Moved) -> None:
        self._go(event.by)

    @on(Finder.Closed)
    def _stop_searching(self) -> None:
        self._query = ""
        self.transcript.mark("")
        self.set_focus(self.editor)

    def _go(self, by: int) -> None:
        """To the next older or newer match; the newest one first."""
        found = matches(self.conversation.blocks, self._query)
        if found:
            here = self._at
            if here is None:
                self._at = found[-1]
            elif by < 0:
                self._at = next((position for position in reversed(found) if position < here), found[-1])
            else:
                self._at = next((position for position in found if position > here), found[0])
            self.transcript.reveal(self._at, self._query)
        self._tell()

    def _tell(self) -> None:
        found = matches(self.conversation.blocks, self._query)
        number = found.index(self._at) + 1 if self._at in found else 0
        self.finder.count(number, len(found))
