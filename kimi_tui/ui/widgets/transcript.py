"""The chat: the blocks of a `Conversation` as one anchored list of rows, however long the session is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip

from kimi_tui.ui.blocks import foldable, gap, rough_place
from kimi_tui.ui.conversation import Block, Conversation
from kimi_tui.ui.drawn import Drawn
from kimi_tui.ui.gallery import Gallery
from kimi_tui.ui.keymap import USUAL, Names
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.rows import Piece, Row, copied
from kimi_tui.ui.widgets.fetching import Fetching
from kimi_tui.ui.widgets.painted import MARGIN, NO_MARGIN, Ways


class Transcript(Fetching, can_focus=True):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "up", show=False),
        Binding("down", "scroll_down", "down", show=False),
        Binding("pageup", "page_up", "page up", show=False),
        Binding("pagedown", "page_down", "page down", show=False),
        Binding("home", "scroll_home", "start", show=False),
        Binding("end", "scroll_end", "end", show=False),
    ]
    names: Names = USUAL
    """Of the key that goes to the end."""

    def __init__(self, conversation: Conversation, marks: Marks = UNICODE) -> None:
        super().__init__(conversation, Drawn(marks))
        self.marks = marks
        self._laying_out = False
        self._newer = False
        """Whether something has been added below what is in sight."""

    # --- what has changed ----------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Take over what has happened to the conversation since the last time."""
        changes = self.conversation.take_changes()
        if changes.cut is None and not changes.blocks:
            return
        if changes.reset:
            self._start_anew()
        before = {block: self.drawn.known(block) for block in changes.blocks}
        self.drawn.forget(changes.blocks)
        if changes.cut is not None:
            self.relist(changes.cut)
        places = self._guess_again(changes.blocks)
        newer, self._newer = self._newer, self._newer or not self.following
        y = round(self.scroll_y)
        self.settle(paint=False)
        if changes.reset or newer != self._newer or y != round(self.scroll_y):
            self.refresh()
        else:
            starts = [self._first_new_row(position, before[block]) for block, position in places.items()]
            if changes.cut is not None:
                starts.append(self._heights.top(changes.cut))
            self._refresh_from(min(starts, default=0) - y)

    def _first_new_row(self, position: int, before: list[Row] | None) -> int:
        """Where, in the whole content, a block differs from how it was drawn before."""
        top, now = self._heights.top(position), self.drawn.known(self.conversation.blocks[position])
        if before is None or now is None:
            return top
        same = next(
            (row for row, (old, new) in enumerate(zip(before, now, strict=False)) if old is not new and old != new),
            min(len(before), len(now)),
        )
        return top + self._gap(position) + same

    def _refresh_from(self, y: int) -> None:
        """Paint the view from this row on; what is above has not changed."""
        y = max(0, y)
        if y < self.size.height:
            self.refresh(Region(0, y, self.inner_width, self.size.height - y))

    def _start_anew(self) -> None:
        self.drawn.forget()
        self.drawn.pictures.forget()
        self.ask_anew()
        self._anchor = (0, 0)
        self._newer = False
        self.following = True
        if self.is_mounted:
            self.screen.clear_selection()

    def _guess_again(self, blocks: set[Block]) -> dict[Block, int]:
        """The heights of these are no longer known. Returns where they are; they are mostly at the end."""
        places: dict[Block, int] = {}
        for position in range(len(self._heights) - 1, -1, -1):
            if len(places) == len(blocks):
                break
            block = self.conversation.blocks[position]
            if block in blocks:
                places[block] = position
                self._known[position] = False
                if not block.open:
                    self._heights.set(position, self.drawn.guess(block))
        return places

    def toggle(self, position: int) -> None:
        """Fold or unfold one block."""
        block = self.conversation.blocks[position]
        if self.drawn.toggle(block):
            self._redraw({block})

    def toggle_all(self) -> None:
        """Unfold everything, or fold it again."""
        self.drawn.unfold_all = not self.drawn.unfold_all
        for block in self.conversation.blocks:
            block.unfolded = None
        self._redraw({block for block in self.conversation.blocks if block.entry and foldable(block.entry)})

    def _redraw(self, blocks: set[Block]) -> None:
        self.drawn.forget(blocks)
        self._measure_again(blocks)

    def on_resize(self) -> None:
        """All heights are guesses again; the place is kept by its anchor, or at the end."""
        self.drawn.width = max(1, self.inner_width - 2 * MARGIN)
        self.drawn.forget()
        self.relist(0)
        self.settle()

    # --- the list ------------------------------------------------------------------------------------------------

    def height_of(self, position: int) -> int:
        return self._gap(position) + len(self.rows_of(position))

    def guesses(self, start: int) -> Iterable[int]:
        return map(self.drawn.guess, self.conversation.blocks[start:])

    def following_changed(self, following: bool) -> None:
        self._newer = self._newer and not following

    def rows_of(self, position: int) -> list[Row]:
        """The rows of one block."""
        return self.drawn.rows(self.conversation.blocks[position])

    def _gap(self, position: int) -> int:
        blocks = self.conversation.blocks
        kind = blocks[position].kind or "note"
        return gap(blocks[position - 1].kind or "note", kind) if position else 1

    def settle(self, *, paint: bool = True) -> None:
        super().settle(paint=paint)
        if self.drawn.late and not self._laying_out and self.is_mounted:
            self._laying_out = True
            self.run_worker(self._lay_out(), group="lay out")

    def on_unmount(self) -> None:
        self.drawn.forget()

    async def _lay_out(self) -> None:
        """Draw what is long beside the screen: the one that was looked at last comes first."""
        try:
            while late := self.drawn.late:
                block = next(reversed(late))
                rows = await asyncio.to_thread(self.drawn.lay_out(block))
                self._take_rows(block, rows)
        finally:
            self._laying_out = False

    def _take_rows(self, block: Block, rows: list[Row]) -> None:
        """In place of the rough ones. What is read stays where it is."""
        rough = len(self.drawn.known(block) or ())
        if not self.drawn.take(block, rows):
            return
        first, row = self._anchor
        if first < len(self.conversation) and self.conversation.blocks[first] is block:
            self._anchor = first, rough_place(row, rough, len(rows))
        self._measure_again({block})

    def _measure_again(self, blocks: set[Block]) -> None:
        self._guess_again(blocks)
        self.screen.clear_selection()
        self.settle()

    async def take_images(self, index: int, urls: Sequence[str]) -> None:
        """Show the images of an entry, once they are read."""
        position = self.conversation.position(index)
        if position >= len(self.conversation):
            return
        block = self.conversation.blocks[position]
        _, ground = self.background_colors
        await self.drawn.pictures.take(block, index, urls, ground.rgb)
        if block in self.conversation.blocks:
            self.conversation.changes.blocks.add(block)
            self.sync()

    def show_pictures_in(self, gallery: Gallery | None) -> None:
        """From now on; those in sight are asked for once more."""
        self.drawn.pictures.show_in(gallery)
        if shown := {block for block in self.conversation.blocks if self.drawn.shows_images(block)}:
            self._redraw(shown)

    # --- painting ------------------------------------------------------------------------------------------------

    def place_of(self, y: int) -> tuple[int, int]:
        if not 0 <= y < self._heights.total:
            return 0, -1
        position, row = self._heights.find(y)
        return position, row - self._gap(position)

    def margin(self, position: int, row: int) -> Piece:
        """What stands in the margin beside a row of a block: a mark at the first one of what is pinned."""
        entry = self.conversation.blocks[position].entry if position < len(self.conversation) else None
        return Piece(self.marks.pin, "fold") if entry and entry.pinned and not row else NO_MARGIN

    def strip(self, y: int, ways: Ways) -> Strip:
        if self._newer and y == self.size.height - 1 and not self.following:
            return self._newer_strip()
        return super().strip(y, ways)

    def _newer_strip(self) -> Strip:
        text = f" {self.marks.below} more below {self.marks.dot} {self.names('follow', 'ctrl+end')} "
        left = max(0, (self.inner_width - len(text)) // 2)
        segments = [Segment(" " * left, self.rich_style), Segment(text, self.palette("now strong"))]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    # --- mouse ---------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None:
            return
        if self._newer and event.y == self.size.height - 1:
            self.follow()
            return
        position, row = self._heights.find(event.y + round(self.scroll_y))
        if position < len(self._heights) and row - self._gap(position) == 0:
            self.toggle(position)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        start, end = selection.start, selection.end
        first = max(0, start.y if start else 0)
        last = min(self._heights.total - 1, end.y if end else self._heights.total - 1)
        if last < first:
            return None
        rows = [self.row_at(y) for y in range(first, last + 1)]
        stop = max(0, end.x - MARGIN) if end and end.y == last else None
        return copied(rows, 0, max(0, start.x - MARGIN) if start else 0, stop), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
