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
    BranchAsked(row)       Space on a rotation whose steps are not known: `add_branch` is the answer
    Sifted(...)            filter, search or number of rows changed: what the headline shows
    Left                   Esc: back to the prompt

Space folds, f walks through the filters, / searches as you type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from kimi_tui.protocol.views import TimelineRow
from kimi_tui.ui.timeline_list import FILTERS, Filter, key_of
from kimi_tui.ui.widgets.timeline_rows import TimelineRows


def side_of(row: TimelineRow | None) -> str:
    """A point as `CompareTimelines` names it: `now`, `now@4`, `context_2.jsonl`, `context_2.jsonl@4`."""
    if row is None:
        return "now"
    if row.kind == "switch" and row.switch:
        return row.switch.file
    place = row.file or "now"
    return place if row.checkpoint is None or row.kind == "rotation" else f"{place}@{row.checkpoint}"


class Timeline(TimelineRows):
    """See the module."""

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
    class BranchAsked(Message):
        row: TimelineRow

    class Left(Message):
        pass

    # --- keys -----------------------------------------------------------------------------------------------------

    def action_fold(self) -> None:
        row = self.row
        if row is not None and row.kind == "rotation" and not self.list.children(self.list.position(self.cursor - 1)):
            self.post_message(self.BranchAsked(row))
        elif row is not None:
            self.cursor = self.list.toggle(self.cursor - 1) + 1
            self.changed()

    def action_undo(self) -> None:
        self.post_message(self.UndoAsked())

    def action_redo(self) -> None:
        self.post_message(self.RedoAsked())

    def action_name(self) -> None:
        if self.row is not None and self.row.kind == "checkpoint":
            self.post_message(self.NameAsked(self.row))

    def action_compare(self) -> None:
        """The first time marks a row; then another row is compared with it, or «now» when it is the same one."""
        row, key = self.row, self.row_key(self.cursor)
        marked = self.list.get(self.marked) if self.marked else None
        if marked is not None:
            self.marked = None
            self.post_message(self.CompareAsked(marked, None if key == key_of(marked) else row))
        elif row is not None:
            self.marked = key
        self.changed()

    def action_rotations(self) -> None:
        self.post_message(self.RotationsAsked())

    def action_filter(self) -> None:
        following = FILTERS[(FILTERS.index(self.list.filter) + 1) % len(FILTERS)]
        self._sift(following, self.list.query)

    def action_leave(self) -> None:
        """Esc takes back the search, then the mark, then the filter, and only then leaves."""
        if self.stop_search():
            return
        if self.marked:
            self.marked = None
            self.changed()
        elif self.list.filter != "all":
            self._sift("all", "")
        else:
            self.post_message(self.Left())

    def sought(self, query: str) -> None:
        self._sift(self.list.filter, query)

    def search_changed(self) -> None:
        self.changed()

    def seek(self, checkpoint: int) -> bool:
        """Rests on that checkpoint of the live timeline, whatever the filter hides. False when it has no row."""
        if self.list.find_checkpoint(checkpoint) is None and self.list.has(checkpoint):
            self._sift("all", "")
        self.point_at(checkpoint)
        return self.list.has(checkpoint)

    def _sift(self, kind: Filter, query: str) -> None:
        kept = self.row_key(self.cursor)
        self.list.filter, self.list.query = kind, query
        self.list.sift()
        place = self.list.find(kept) if kept else None
        self.cursor = place + 1 if place is not None else min(1, len(self.list)) if query else 0
        self.changed()
        self.moved()
