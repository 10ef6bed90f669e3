"""The transcript for a reader with a keyboard: a cursor that goes from block to block, marks for what is looked for.

While it has the focus the arrows move the cursor; a block can be unfolded, copied, quoted or opened in the editor.
Posts `Taken` for the last three, `Typed` for letters that were meant for the prompt and `Left` for Esc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from kimi_tui.protocol.views import Entry
from kimi_tui.ui.blocks import foldable
from kimi_tui.ui.conversation import Block
from kimi_tui.ui.finding import spans
from kimi_tui.ui.rows import Piece, Row, cut
from kimi_tui.ui.widgets.transcript import Transcript

Use = Literal["copy", "quote", "edit"]


class Reader(Transcript):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "block(-1)", "block above", show=False),
        Binding("down", "block(1)", "block below", show=False),
        Binding("space", "fold", "unfold or fold the block", show=False),
        Binding("enter", "open", "unfold the block; of a jump: the file it left behind", show=False),
        Binding("p", "pin", "pin the block: compactions keep it", show=False),
        Binding("c", "use('copy')", "copy the block", show=False),
        Binding("q", "use('quote')", "quote the block", show=False),
        Binding("e", "use('edit')", "open the block in the editor", show=False),
        Binding("escape", "leave", "back to the prompt", show=False),
    ]

    @dataclass
    class Taken(Message):
        text: str
        use: Use

    @dataclass
    class Typed(Message):
        text: str

    @dataclass
    class Pinned(Message):
        """The entry with that stored index is to be pinned, or let go."""

        index: int
        on: bool

    @dataclass
    class Opened(Message):
        """The file that a jump left behind is to be read."""

        file: str

    class Left(Message):
        pass

    OWN: ClassVar[str] = "cqep "
    """Letters that mean something here."""

    _cursor: Block | None = None
    _query = ""

    # --- the cursor ----------------------------------------------------------------------------------------------

    def on_focus(self) -> None:
        if self._cursor not in self.conversation.blocks:
            last, _ = self._heights.find(round(self.scroll_y) + self.size.height - 2)
            self._cursor = self.conversation.blocks[last] if self.conversation.blocks else None
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and event.character not in self.OWN:
            event.stop()
            self.post_message(self.Typed(event.character))

    def on_blur(self) -> None:
        self.refresh()

    def action_block(self, by: int) -> None:
        """To the next block; one that is longer than the view is first scrolled through."""
        blocks = self.conversation.blocks
        if self._cursor not in blocks:
            return
        at = blocks.index(self._cursor)
        if self._goes_on(at, by):
            self.scroll_relative(y=by * 3, animate=False)
            return
        at = max(0, min(len(blocks) - 1, at + by))
        self._cursor = blocks[at]
        self._bring_into_sight(at)

    def _goes_on(self, position: int, by: int) -> bool:
        """Whether a part of the block lies outside the view in that direction."""
        first, last = self._heights.top(position), self._heights.top(position) + self._heights[position]
        view = round(self.scroll_y)
        return first < view if by < 0 else last > view + self.size.height

    def _bring_into_sight(self, position: int) -> None:
        height = self._measure(position)
        top, view = self._heights.top(position), round(self.scroll_y)
        if top < view:
            self.scroll_relative(y=max(top - view, -self.size.height + 1), animate=False)
        elif top + height > view + self.size.height:
            down = min(top + height - view - self.size.height, top - view)
            self.scroll_relative(y=down, animate=False)
        self.refresh()

    def action_fold(self) -> None:
        if self._cursor in self.conversation.blocks:
            self.toggle(self.conversation.blocks.index(self._cursor))

    def action_open(self) -> None:
        """Enter unfolds; of a block that tells of a jump it opens, once there is no more to unfold, what went."""
        if self._cursor not in self.conversation.blocks:
            return
        position = self.conversation.blocks.index(self._cursor)
        entry = self._cursor.entry
        if (
            entry
            and entry.switch
            and entry.switch.file
            and (self.drawn.is_unfolded(self._cursor) or not foldable(entry))
        ):
            self.post_message(self.Opened(entry.switch.file))
        else:
            self.toggle(position)

    def action_pin(self) -> None:
        if self._cursor in self.conversation.blocks and self._cursor.entry:
            index = self.conversation.index(self.conversation.blocks.index(self._cursor))
            if index is not None:
                self.post_message(self.Pinned(index, not self._cursor.entry.pinned))

    def action_use(self, use: Use) -> None:
        if self._cursor and self._cursor.entry:
            self.post_message(self.Taken(source(self._cursor.entry), use))

    def action_leave(self) -> None:
        self.post_message(self.Left())

    # --- going places --------------------------------------------------------------------------------------------

    def go_to_turn(self, by: int) -> None:
        """Put the prompt of the turn before or after at the top; after the last one follow the end."""
        blocks, (here, row) = self.conversation.blocks, self._anchor
        turns = [number for number, block in enumerate(blocks) if block.entry and block.entry.turn]
        if by < 0:
            before = [number for number in turns if number < here or (number == here and row > 1)]
            self._put_on_top(before[-1] if before else 0)
        elif after := [number for number in turns if number > here]:
            self._put_on_top(after[0])
        else:
            self.follow()

    def _put_on_top(self, position: int, row: int = 0) -> None:
        self._follow(False)
        self._anchor = (position, row)
        self.settle()

    def mark(self, query: str) -> None:
        """Mark what is looked for wherever it is in sight."""
        self._query = query
        self.refresh()

    def reveal(self, position: int, query: str) -> None:
        """Show the first place in a block that holds the query, unfolding it when it is hidden."""
        row = self._row_with(position, query)
        if row is None and not self.drawn.is_unfolded(self.conversation.blocks[position]):
            self.toggle(position)
            row = self._row_with(position, query)
        self._put_on_top(position, row or 0)
        self.scroll_relative(y=-(self.size.height // 3), animate=False)

    def _row_with(self, position: int, query: str) -> int | None:
        self._measure(position)
        rows = self.rows_of(position)
        return next((number for number, row in enumerate(rows) if spans(row.text, query)), None)

    # --- painting ------------------------------------------------------------------------------------------------

    def margin(self, position: int, row: int) -> Piece:
        here = (
            self.has_focus and position < len(self.conversation) and self.conversation.blocks[position] is self._cursor
        )
        return Piece(self.marks.user, "moved") if here else super().margin(position, row)

    def dressed(self, row: Row) -> tuple[Piece, ...]:
        found = spans(row.text, self._query) if self._query else []
        if not found:
            return row.pieces
        pieces: list[Piece] = []
        at = 0
        for start, end in found:
            pieces += cut(row.pieces, at, start)
            pieces += [piece._replace(style=f"{piece.style} found") for piece in cut(row.pieces, start, end)]
            at = end
        return (*pieces, *cut(row.pieces, at, 1 << 30))


def source(entry: Entry) -> str:
    """The text of a block as it was before it was drawn."""
    tool = entry.tool
    return f"{tool.verb} {tool.subject}\n{tool.output}".strip() if tool else entry.text
