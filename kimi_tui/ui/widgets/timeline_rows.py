"""The rows of the timeline on the screen: fed with views, drawn, and kept in place while the tree grows.

What can be done with them is in `timeline.py`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message
from textual.strip import Strip

from kimi_tui.protocol.views import TimelineRow
from kimi_tui.ui.cells import literal
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.timeline_draw import Folding, draw
from kimi_tui.ui.timeline_list import Filter, Key, TimelineList, key_of
from kimi_tui.ui.tones import Span, spread, strip_of, stylesheet
from kimi_tui.ui.widgets.searched import SearchedLines

AGEING = 20.0
"""Seconds after which ages are drawn anew."""
KEPT = 1_000
"""Rows that are kept as they were painted."""


class TimelineRows(SearchedLines):
    """See the module."""

    DEFAULT_CSS = stylesheet("timeline")

    @dataclass
    class Highlighted(Message):
        row: TimelineRow | None

    @dataclass
    class Pointed(Message):
        """The cursor was put there by `point_at`, not by the user."""

        row: TimelineRow | None

    @dataclass
    class Chosen(Message):
        row: TimelineRow | None

    @dataclass
    class Sifted(Message):
        checkpoints: int
        files: int
        filter: Filter
        query: str
        searching: bool
        marked: TimelineRow | None

    def __init__(self, *, marks: Marks = UNICODE, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time
        """Ages are measured against this."""
        self.list = TimelineList()
        self._live = ""
        self.marked: Key | None = None
        self._painted: dict[int, tuple[TimelineRow, object, Strip]] = {}
        """By the identity of the row: how it was painted last, and under which circumstances."""

    def on_mount(self) -> None:
        self.set_interval(AGEING, self._grow_older)

    # --- what is fed ----------------------------------------------------------------------------------------------

    def show(self, rows: Sequence[TimelineRow]) -> None:
        """The whole tree, newest first. The cursor stays on its row where that is still there."""
        kept = self.row_key(self.cursor)
        self.list.load(rows)
        self.marked = None
        place = self.list.find(kept) if kept else None
        self.cursor = 0 if place is None else place + 1
        self.resized()
        self.reveal(self.cursor)
        self.moved()
        self.tell()

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
        self.tell()

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

    def add_branch(self, file: str, rows: Sequence[TimelineRow]) -> None:
        """The steps of a rotation, newest first, as `branch_rows` makes them: the answer to `BranchAsked`."""
        kept = self.row_key(self.cursor)
        self.list.add_branch(file, rows)
        place = self.list.find(kept) if kept else None
        self.cursor = 0 if place is None else place + 1
        self.changed()

    def set_live(self, label: str) -> None:
        """What happens now, beside the first row: `thinking`, `running pytest`, or nothing."""
        self._live = literal(label)
        self.refresh_line(0)

    def point_at(self, checkpoint: int | None, file: str | None = None) -> None:
        """Rests on that checkpoint without a `Highlighted`: the chat leads, the timeline follows."""
        height = None if checkpoint is None else self.list.find_checkpoint(checkpoint, file)
        if checkpoint is None or height is not None:
            self.rest(0 if height is None else height + 1, tell=False)
            self.post_message(self.Pointed(self.row))

    @property
    def row(self) -> TimelineRow | None:
        """The row under the cursor; None on «now»."""
        return self._row_at(self.cursor)

    def _row_at(self, index: int) -> TimelineRow | None:
        return self.list.at(index - 1) if 0 < index <= len(self.list) else None

    def row_key(self, index: int) -> Key | None:
        row = self._row_at(index)
        return key_of(row) if row else None

    # --- rows -----------------------------------------------------------------------------------------------------

    def total(self) -> int:
        return len(self.list) + 1

    def line(self, index: int, width: int) -> Strip:
        """Rows are moved more often than they change: they are kept as they were painted, until their ages change."""
        if index == 0:
            return super().line(index, width)
        row, folding, lead = self.list.at(index - 1), self._folding(index - 1), self._lead(index)
        now = (folding, lead, self.ground(index), width)
        known = self._painted.get(id(row))
        if known is None or known[0] is not row or known[1] != now:
            if len(self._painted) > KEPT:
                self._painted.clear()
            spans = [lead, *draw(row, folding, width - 2, self.marks, self.clock())]
            known = self._painted[id(row)] = row, now, strip_of(spans, width, self.tones, self.ground(index))
        return known[2]

    def spans(self, index: int, width: int) -> list[Span]:
        if index:
            row = self.list.at(index - 1)
            return [self._lead(index), *draw(row, self._folding(index - 1), width - 2, self.marks, self.clock())]
        live = [(f"{self.marks.now} ", "now"), ("now", "strong now"), (f"  {self._live}", "quiet")]
        return [self._lead(index), *spread(live, [], width - 2)]

    def _lead(self, index: int) -> Span:
        if index and self.marked is not None and self.marked == self.row_key(index):
            return "d", "found"
        return (self.marks.cursor if index == self.cursor and self.has_focus else " "), "now"

    def _folding(self, height: int) -> Folding:
        position = self.list.position(height)
        children = self.list.children(position)
        folded = bool(children) and self.list.folded(position)
        return Folding(
            children, folded, self.list.hidden_tokens(position) if folded else 0, self.list.ends_branch(height)
        )

    def _grow_older(self) -> None:
        self._painted.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painted.clear()

    def moved(self) -> None:
        self.post_message(self.Highlighted(self.row))

    def chosen(self) -> None:
        self.post_message(self.Chosen(self.row))

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)
        self.moved()

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)

    def changed(self) -> None:
        """Folds, filter, query or mark are others."""
        self.resized()
        self.reveal(self.cursor)
        self.tell()

    def tell(self) -> None:
        """What the headline shows."""
        marked = self.list.get(self.marked) if self.marked else None
        self.post_message(
            self.Sifted(
                self.list.checkpoints, self.list.files, self.list.filter, self.list.query, self.searching, marked
            )
        )
