"""The timeline: one row a step, newest on top, with every jump in time and the branches that it left behind.

Feed it views (`show`, `add_row`, `update_row`, `set_live`, `point_at`); it posts nested messages and changes nothing
by itself:

    Highlighted(row)       the cursor rests on another row; `row` is None on «now»
    Chosen(row)            Enter or a click; `row` is None on «now»
    UndoAsked, RedoAsked   u, r
    NameAsked(row)         n on a checkpoint
    CompareAsked(a, b)     d on two rows, or d twice on one for «with now» (`b` is None); `left` and `right` are the
                           sides as the command `CompareTimelines` wants them
    RotationsAsked         b
    Sifted(...)            filter, search or number of rows changed: what the headline shows
    Left                   Esc: back to the prompt

Space folds, f walks through the filters, / searches as you type.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from kimi_tui.protocol.views import TimelineRow
from kimi_tui.ui.cells import literal
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.timeline_draw import Folding, draw
from kimi_tui.ui.timeline_list import FILTERS, Filter, Key, TimelineList, key_of
from kimi_tui.ui.tones import Span, spread, stylesheet
from kimi_tui.ui.widgets.searched import SearchedLines

AGEING = 20.0
"""Seconds after which ages are drawn anew."""


def side_of(row: TimelineRow | None) -> str:
    """A point as `CompareTimelines` names it: `now`, `now@4`, `context_2.jsonl`, `context_2.jsonl@4`."""
    if row is None:
        return "now"
    if row.kind == "switch" and row.switch:
        return row.switch.file
    place = row.file or "now"
    return place if row.checkpoint is None or row.kind == "rotation" else f"{place}@{row.checkpoint}"


class Timeline(SearchedLines):
    """See the module."""

    DEFAULT_CSS = stylesheet("timeline")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "fold", key_display="space"),
        Binding("u", "undo", "undo"),
        Binding("r", "redo", "redo"),
        Binding("n", "name", "name"),
        Binding("d", "compare", "compare"),
        Binding("b", "rotations", "rotations"),
        Binding("f", "filter", "filter"),
        Binding("escape", "leave", "back"),
    ]

    @dataclass
    class Highlighted(Message):
        row: TimelineRow | None

    @dataclass
    class Chosen(Message):
        row: TimelineRow | None

    class UndoAsked(Message):
        pass

    class RedoAsked(Message):
        pass

    @dataclass
    class NameAsked(Message):
        row: TimelineRow

    @dataclass
    class CompareAsked(Message):
        a: TimelineRow
        b: TimelineRow | None

        @property
        def left(self) -> str:
            return side_of(self.a)

        @property
        def right(self) -> str:
            return side_of(self.b)

    class RotationsAsked(Message):
        pass

    @dataclass
    class Sifted(Message):
        checkpoints: int
        files: int
        filter: Filter
        query: str
        searching: bool
        marked: TimelineRow | None

    class Left(Message):
        pass

    def __init__(self, *, marks: Marks = UNICODE, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time
        """Ages are measured against this."""
        self.list = TimelineList()
        self._live = ""
        self._marked: Key | None = None

    def on_mount(self) -> None:
        self.set_interval(AGEING, self.refresh)

    # --- what is fed ----------------------------------------------------------------------------------------------

    def show(self, rows: Sequence[TimelineRow]) -> None:
        """The whole tree, newest first. The cursor stays on its row where that is still there."""
        kept = self._key_at(self.cursor)
        self.list.load(rows)
        self._marked = None
        place = self.list.find(kept) if kept else None
        self.cursor = 0 if place is None else place + 1
        self.resized()
        self.reveal(self.cursor)
        self.moved()
        self._tell()

    def add_row(self, row: TimelineRow) -> None:
        """A new row on top. A cursor on «now» stays there, any other stays on its row."""
        shown = len(self.list)
        if self.list.add(row) and len(self.list) > shown:
            if self.cursor > 0:
                self.cursor += 1
            self.resized()
            if self.cursor > 0 and self.scroll_offset.y > 0:
                self.scroll_to(y=self.scroll_offset.y + 1, animate=False, immediate=True)
        else:
            self.refresh()
        self._tell()

    def update_row(self, row: TimelineRow) -> None:
        """News about a row, found by its file and offset. An unknown one is a new one."""
        before = len(self.list)
        height = self.list.replace(row)
        if len(self.list) != before:
            self.resized()
        elif height is not None:
            self.refresh_line(height + 1)
        elif row.kind == "checkpoint" and key_of(row) not in self.list:
            self.add_row(row)

    def set_live(self, label: str) -> None:
        """What happens now, beside the first row: `thinking`, `running pytest`, or nothing."""
        self._live = literal(label)
        self.refresh_line(0)

    def point_at(self, checkpoint: int | None, file: str | None = None) -> None:
        """Rests on that checkpoint without telling anyone: the chat leads, the timeline follows."""
        if checkpoint is None:
            self.rest(0, tell=False)
            return
        for height in range(len(self.list)):
            row = self.list.at(height)
            if row.kind == "checkpoint" and row.checkpoint == checkpoint and row.file == file:
                self.rest(height + 1, tell=False)
                return

    @property
    def row(self) -> TimelineRow | None:
        """The row under the cursor; None on «now»."""
        return self._row_at(self.cursor)

    def _row_at(self, index: int) -> TimelineRow | None:
        return self.list.at(index - 1) if 0 < index <= len(self.list) else None

    def _key_at(self, index: int) -> Key | None:
        row = self._row_at(index)
        return key_of(row) if row else None

    # --- rows -----------------------------------------------------------------------------------------------------

    def total(self) -> int:
        return len(self.list) + 1

    def spans(self, index: int, width: int) -> list[Span]:
        lead: Span = (self.marks.cursor if index == self.cursor and self.has_focus else " ", "now")
        if index == 0:
            live = [(f"{self.marks.now} ", "now"), ("now", "strong now"), (f"  {self._live}", "quiet")]
            return [lead, *spread(live, [], width - 2)]
        row = self.list.at(index - 1)
        if self._marked is not None and self._marked == key_of(row):
            lead = ("d", "found")
        return [lead, *draw(row, self._folding(index - 1), width - 2, self.marks, self.clock())]

    def _folding(self, height: int) -> Folding:
        position = self.list.position(height)
        children = self.list.children(position)
        folded = bool(children) and self.list.folded(position)
        return Folding(
            children, folded, self.list.hidden_tokens(position) if folded else 0, self.list.ends_branch(position)
        )

    def moved(self) -> None:
        self.post_message(self.Highlighted(self.row))

    def chosen(self) -> None:
        self.post_message(self.Chosen(self.row))

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)
        self.moved()

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)

    # --- keys -----------------------------------------------------------------------------------------------------

    def action_fold(self) -> None:
        if self.cursor > 0:
            self.cursor = self.list.toggle(self.cursor - 1) + 1
            self._changed()

    def action_undo(self) -> None:
        self.post_message(self.UndoAsked())

    def action_redo(self) -> None:
        self.post_message(self.RedoAsked())

    def action_name(self) -> None:
        if self.row is not None and self.row.kind == "checkpoint":
            self.post_message(self.NameAsked(self.row))

    def action_compare(self) -> None:
        """The first time marks a row; then another row is compared with it, or «now» when it is the same one."""
        row, key = self.row, self._key_at(self.cursor)
        marked = self.list.get(self._marked) if self._marked else None
        if marked is not None:
            self._marked = None
            self.post_message(self.CompareAsked(marked, None if key == key_of(marked) else row))
        elif row is not None:
            self._marked = key
        self._changed()

    def action_rotations(self) -> None:
        self.post_message(self.RotationsAsked())

    def action_filter(self) -> None:
        following = FILTERS[(FILTERS.index(self.list.filter) + 1) % len(FILTERS)]
        self._sift(following, self.list.query)

    def action_leave(self) -> None:
        """Esc takes back the search, then the mark, then the filter, and only then leaves."""
        if self.stop_search():
            return
        if self._marked:
            self._marked = None
            self._changed()
        elif self.list.filter != "all":
            self._sift("all", "")
        else:
            self.post_message(self.Left())

    def sought(self, query: str) -> None:
        self._sift(self.list.filter, query)

    def search_changed(self) -> None:
        self._changed()

    def _sift(self, kind: Filter, query: str) -> None:
        kept = self._key_at(self.cursor)
        self.list.filter, self.list.query = kind, query
        self.list.sift()
        place = self.list.find(kept) if kept else None
        self.cursor = place + 1 if place is not None else min(1, len(self.list)) if query else 0
        self._changed()
        self.moved()

    def _changed(self) -> None:
        self.resized()
        self.reveal(self.cursor)
        self._tell()

    def _tell(self) -> None:
        marked = self.list.get(self._marked) if self._marked else None
        self.post_message(
            self.Sifted(
                self.list.checkpoints, self.list.files, self.list.filter, self.list.query, self.searching, marked
            )
        )
