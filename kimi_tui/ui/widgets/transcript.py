"""The chat: one virtual list of rows over a `Conversation`, however long the session is.

Only blocks that come into sight are drawn; the heights of the others are guesses until then. The place on the screen
is an anchor (block, row in the block), so a corrected guess never moves what is being read. At the end the view
follows; scrolled up it stays. Posts `Wanted` for entries that are not loaded yet and `Followed` when following starts
or ends.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.ui.blocks import INDENT, Drawing, entry_rows, foldable, gap, tail_rows
from kimi_tui.ui.conversation import Block, Conversation
from kimi_tui.ui.heights import Heights
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.palette import Palette
from kimi_tui.ui.rows import BLANK, Piece, Row, copied, cut
from kimi_tui.ui.streaming import OpenMarkdown

MARGIN = 1
KEPT = 400
"""Blocks whose rows are kept."""
UNKNOWN = 3
"""Rows guessed for an entry that is not loaded."""
PAGE = 60
"""Entries asked for at once."""


class Transcript(ScrollView, can_focus=True):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "up", show=False),
        Binding("down", "scroll_down", "down", show=False),
        Binding("pageup", "page_up", "page up", show=False),
        Binding("pagedown", "page_down", "page down", show=False),
        Binding("home", "scroll_home", "start", show=False),
        Binding("end", "scroll_end", "end", show=False),
    ]

    @dataclass
    class Wanted(Message):
        """Stored entries `first … end` have come into sight and are not loaded."""

        first: int
        end: int

    @dataclass
    class Followed(Message):
        following: bool

    def __init__(self, conversation: Conversation, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.conversation = conversation
        self.marks = marks
        self.following = True
        self.unfold_all = False
        self.palette = Palette(self)
        self._heights = Heights()
        self._known: list[bool] = []
        self._rows: OrderedDict[Block, list[Row]] = OrderedDict()
        self._open: dict[Block, OpenMarkdown] = {}
        self._anchor = (0, 0)
        self._placing = False
        self._painting = False
        self._asked: set[int] = set()
        self._newer = False

    # --- what has changed ----------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Take over what has happened to the conversation since the last time."""
        changes = self.conversation.take_changes()
        if changes.cut is None and not changes.blocks:
            return
        if changes.reset:
            self._forget_all()
            self.following = True
        before = {block: self._rows.pop(block, None) for block in changes.blocks}
        for block in changes.blocks:
            if not block.open:
                self._open.pop(block, None)
        if changes.cut is not None:
            self._relist(changes.cut)
        places = self._guess_again(changes.blocks)
        newer, self._newer = self._newer, self._newer or not self.following
        y = round(self.scroll_y)
        self._settle(paint=False)
        if changes.reset or newer != self._newer or y != round(self.scroll_y):
            self.refresh()
        else:
            starts = [self._first_new_row(position, before[block]) for block, position in places.items()]
            if changes.cut is not None:
                starts.append(self._heights.top(changes.cut))
            self._refresh_from(min(starts, default=0) - y)

    def _first_new_row(self, position: int, before: list[Row] | None) -> int:
        """Where, in the whole content, a block differs from how it was drawn before."""
        top, now = self._heights.top(position), self._rows.get(self.conversation.blocks[position])
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
            self.refresh(Region(0, y, self._inner, self.size.height - y))

    def _forget_all(self) -> None:
        self._rows.clear()
        self._open.clear()
        self._asked.clear()
        self._anchor = (0, 0)
        self._newer = False
        if self.is_mounted:
            self.screen.clear_selection()

    def _relist(self, start: int) -> None:
        self._heights.truncate(start)
        del self._known[start:]
        for block in self.conversation.blocks[start:]:
            self._heights.append(self._guess(block))
            self._known.append(False)

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
                    self._heights.set(position, self._guess(block))
        return places

    def _guess(self, block: Block) -> int:
        entry = block.entry
        if entry is None:
            return UNKNOWN
        if entry.kind in ("assistant", "user"):
            return 2 + entry.text.count("\n") + len(entry.text) // max(20, self._width)
        return 1 if entry.kind == "tool" else 2

    @property
    def _inner(self) -> int:
        """Cells beside the scrollbar."""
        return max(0, self.size.width - self.scrollbar_size_vertical)

    @property
    def _width(self) -> int:
        return max(1, self._inner - 2 * MARGIN)

    # --- where things are ----------------------------------------------------------------------------------------

    def _measure(self, position: int) -> int:
        if not self._known[position]:
            rows = self.rows_of(position)
            self._heights.set(position, self._gap(position) + len(rows))
            self._known[position] = True
        return self._heights[position]

    def _gap(self, position: int) -> int:
        blocks = self.conversation.blocks
        kind = blocks[position].kind or "note"
        return gap(blocks[position - 1].kind or "note", kind) if position else 1

    def _settle(self, *, paint: bool = True) -> None:
        """Measure what is in sight, put the view where it belongs, and paint."""
        height = self.size.height
        if not height or not self.is_mounted:
            return
        count = len(self._heights)
        if self.following:
            position, rows = count, 0
            while position > 0 and rows < height:
                position -= 1
                rows += self._measure(position)
            self._place(self.content_height - height)
        else:
            first, row = self._anchor
            position, rows = first, -row
            while position < count and rows < height:
                rows += self._measure(position)
                position += 1
            row = min(row, max(0, self._heights[first] - 1)) if count else 0
            self._place(self._heights.top(first) + row)
        self._ask_for_missing()
        if paint:
            self.refresh()

    @property
    def content_height(self) -> int:
        return self._heights.total + 1

    def _place(self, y: int) -> None:
        """Scroll without a layout: setting `virtual_size` the usual way would lay out the whole screen."""
        height = self.content_height
        y = max(0, min(y, height - self.size.height))
        self._anchor = self._heights.find(y)
        self.set_reactive(Widget.virtual_size, Size(self._inner, height))
        self._placing = True
        try:
            self.scroll_target_y = y
            self.scroll_y = y
        finally:
            self._placing = False
        bar = self.vertical_scrollbar
        bar.window_virtual_size = height
        bar.window_size = self.size.height
        bar.position = y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
            self._moved(round(new_value) - round(old_value), round(new_value))

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """A new size clamps the scroll position; that is not the reader scrolling."""
        self._placing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._placing = False

    def _moved(self, by: int, y: int) -> None:
        """The user scrolled: find the new anchor by rows that are really there, not by guesses."""
        first, row = self._anchor
        if -2 * self.size.height <= by < 0:
            known, position = row, first
            while position > 0 and known < -by:
                position -= 1
                known += self._measure(position)
            y = max(0, self._heights.top(first) + row + by)
        self._follow(y >= self.content_height - self.size.height)
        self._anchor = self._heights.find(y)
        self._settle()

    def _follow(self, following: bool) -> None:
        if following:
            self._newer = False
        if following != self.following:
            self.following = following
            self.post_message(self.Followed(following))

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._follow(True)
        self._settle()

    def _scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> bool:
        """Never animated: the rows on the way would all have to be measured, and a reader wants to be there."""
        return super()._scroll_to(x, y, **{**options, "animate": False})

    def _ask_for_missing(self) -> None:
        first, _ = self._heights.find(round(self.scroll_y))
        last, _ = self._heights.find(round(self.scroll_y) + self.size.height)
        for position in range(first, min(last + 1, len(self._heights))):
            index = self.conversation.index(position)
            if index is not None and self.conversation.blocks[position].entry is None:
                page = index // PAGE
                if page not in self._asked:
                    self._asked.add(page)
                    self.post_message(self.Wanted(page * PAGE, min((page + 1) * PAGE, self.conversation.stored)))

    # --- rows ----------------------------------------------------------------------------------------------------

    def rows_of(self, position: int) -> list[Row]:
        """The rows of one block, from the cache where they are known."""
        block = self.conversation.blocks[position]
        rows = self._rows.get(block)
        if rows is None:
            rows = self._draw(block)
            self._rows[block] = rows
            if len(self._rows) > KEPT:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(block)
        return rows

    def _draw(self, block: Block) -> list[Row]:
        entry = block.entry
        if entry is None:
            return [Row((Piece(f"  {self.marks.more}", "faint"),)), BLANK]
        drawing = Drawing(self._width, self.is_unfolded(block), self.marks, block.live)
        if not block.open:
            return entry_rows(entry, drawing)
        if entry.kind == "thinking":
            return self._draw_thinking(entry.text, drawing)
        stream = self._open.get(block)
        if stream is None or stream.width != drawing.column - INDENT:
            stream = self._open[block] = OpenMarkdown(drawing.column - INDENT, INDENT)
        rows = stream.rows(entry.text) or [BLANK]
        return [*rows[:-1], self._with_caret(rows[-1])]

    def _draw_thinking(self, text: str, drawing: Drawing) -> list[Row]:
        lead = (Piece("  "), Piece(f"{self.marks.rail} ", "faint"))
        return tail_rows(text, drawing, lead, "thinking", 4) or [BLANK]

    def _with_caret(self, row: Row) -> Row:
        return Row((*row.pieces, Piece(self.marks.caret, "now")), row.gutter, row.joint)

    def is_unfolded(self, block: Block) -> bool:
        return self.unfold_all if block.unfolded is None else block.unfolded

    def toggle(self, position: int) -> None:
        """Fold or unfold one block."""
        block = self.conversation.blocks[position]
        if block.entry and foldable(block.entry):
            block.unfolded = not self.is_unfolded(block)
            self._redraw({block})

    def toggle_all(self) -> None:
        """Unfold everything, or fold it again."""
        self.unfold_all = not self.unfold_all
        for block in self.conversation.blocks:
            block.unfolded = None
        self._redraw(set(self.conversation.blocks))

    def _redraw(self, blocks: set[Block]) -> None:
        for block in blocks:
            self._rows.pop(block, None)
        self._guess_again(blocks)
        self.screen.clear_selection()
        self._settle()

    # --- painting ------------------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        """Row `y` of the view. Offsets for mouse selection are only added when the screen asks where the mouse is:
        they cost more than the row itself."""
        content_y = y + round(self.scroll_y)
        if self._newer and y == self.size.height - 1 and not self.following:
            return self._newer_strip()
        strip = self._strip(self.row_at(content_y), content_y)
        return strip if self._painting else strip.apply_offsets(0, content_y)

    def row_at(self, y: int) -> Row:
        """The row at a place in the whole content; blank between blocks and outside."""
        if not 0 <= y < self._heights.total:
            return BLANK
        position, row = self._heights.find(y)
        row -= self._gap(position)
        rows = self.rows_of(position) if row >= 0 else []
        return rows[row] if 0 <= row < len(rows) else BLANK

    def _strip(self, row: Row, y: int) -> Strip:
        position, inside = self._heights.find(y)
        blank = not self._known or inside < self._gap(position)
        margin = Piece(" " * MARGIN) if blank else self.margin(position, inside - self._gap(position))
        pieces = [margin, *self.dressed(row)]
        selection = self.text_selection
        span = selection.get_span(y) if selection else None
        look = self.palette
        if span is None:
            segments = [Segment(piece.text, look(piece.style, piece.link)) for piece in pieces]
        else:
            segments = self._selected(pieces, *span)
        return Strip(segments).adjust_cell_length(self._inner, look(row.fill))

    def margin(self, position: int, row: int) -> Piece:
        """What stands in the margin beside a row of a block: a mark at the first one of what is pinned."""
        entry = self.conversation.blocks[position].entry if position < len(self.conversation) else None
        return Piece(self.marks.pin, "fold") if entry and entry.pinned and not row else Piece(" " * MARGIN)

    def dressed(self, row: Row) -> tuple[Piece, ...]:
        """The row's pieces as they are painted now."""
        return row.pieces

    def _selected(self, pieces: list[Piece], start: int, end: int) -> list[Segment]:
        end = sum(len(piece.text) for piece in pieces) if end < 0 else end
        ground = self.screen.get_component_rich_style("screen--selection")
        parts = ((cut(pieces, 0, start), None), (cut(pieces, start, end), ground), (cut(pieces, end, 1 << 30), None))
        return [
            Segment(piece.text, self.palette(piece.style, piece.link) + style if style else self.palette(piece.style))
            for run, style in parts
            for piece in run
        ]

    def _newer_strip(self) -> Strip:
        text = f" {self.marks.below} more below {self.marks.dot} End "
        left = max(0, (self._inner - len(text)) // 2)
        segments = [Segment(" " * left, self.rich_style), Segment(text, self.palette("now strong"))]
        return Strip(segments).adjust_cell_length(self._inner, self.rich_style)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.palette.forget()

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

    def on_resize(self) -> None:
        """All heights are guesses again; the place is kept by its anchor, or at the end."""
        self._rows.clear()
        self._open.clear()
        self._relist(0)
        self._settle()
