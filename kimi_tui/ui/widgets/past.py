"""The conversation of a file that was left behind: to be read, walked through block by block, and searched.

`read(entries)` shows it, `find()` opens the bar below it. Posts `Left` when the reader is done with it (Esc).
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from kimi_tui.protocol.events import EntriesChanged, EntryAdded
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.conversation import Conversation
from kimi_tui.ui.finding import matches
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.tones import Rows
from kimi_tui.ui.widgets.finder import Finder
from kimi_tui.ui.widgets.reader import Reader
from kimi_tui.ui.widgets.sheet import Sheet


class PastReader(Reader):
    """Letters belong to the screen: nothing is written here, and nothing taken into a prompt."""

    OWN: ClassVar[str] = string.printable

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action not in ("use", "pin")

    def action_open(self) -> None:
        self.action_fold()

    def show(self, entries: Sequence[Entry]) -> None:
        """Show these. Of the same conversation, some of it newer, what was unfolded stays so and the place stays."""
        known = self.conversation.blocks
        if len(entries) < len(known) or not known or known[0].entry != entries[0]:
            self.conversation.reset(len(entries), entries)
        else:
            self._go_on(entries)
        self.sync()

    def _go_on(self, entries: Sequence[Entry]) -> None:
        known = self.conversation.blocks
        for index, entry in enumerate(entries):
            if index >= len(known):
                self.conversation.apply(EntryAdded(index, entry))
            elif known[index].entry != entry:
                self.conversation.apply(EntriesChanged(index, (entry,)))


class Past(Vertical):
    """See the module. `head` says what stands over the conversation."""

    class Left(Message):
        pass

    def __init__(self, head: Callable[[int], Rows], marks: Marks, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.conversation = Conversation()
        self.reader = PastReader(self.conversation, marks)
        self.finder = Finder()
        self._head = Sheet(head, classes="reading")
        self._query = ""
        self._at: int | None = None

    def compose(self) -> ComposeResult:
        yield self._head
        yield self.reader
        yield self.finder

    def head_changed(self) -> None:
        self._head.changed()

    def read(self, entries: Sequence[Entry]) -> None:
        self.conversation.reset(len(entries), entries)
        self.reader.sync()
        self._at = None
        self._go(-1)
        self.head_changed()

    def find(self) -> None:
        self.finder.open()

    @on(Finder.Sought)
    def _seek(self, event: Finder.Sought) -> None:
        event.stop()
        self._query, self._at = event.query, None
        self.reader.mark(event.query)
        self._go(-1)

    @on(Finder.Moved)
    def _move(self, event: Finder.Moved) -> None:
        event.stop()
        self._go(event.by)

    @on(Finder.Closed)
    def _close(self, event: Finder.Closed) -> None:
        event.stop()
        self._query = ""
        self.reader.mark("")
        self.reader.focus()

    @on(Reader.Left)
    def _leave(self, event: Reader.Left) -> None:
        event.stop()
        self.post_message(self.Left())

    def _go(self, by: int) -> None:
        """To the next older or newer match; the newest one first."""
        found = matches(self.conversation.blocks, self._query)
        if found:
            here = found.index(self._at) if self._at in found else 0 if by < 0 else -1
            self._at = found[(here + by) % len(found)]
            self.reader.reveal(self._at, self._query)
        self.finder.count(found.index(self._at) + 1 if self._at in found else 0, len(found))
