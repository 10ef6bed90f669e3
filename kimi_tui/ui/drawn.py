"""The rows of the blocks of a conversation, drawn once and kept while they are likely to be seen again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial

from kimi_tui.protocol.views import Entry
from kimi_tui.ui.blocks import entry_rows, foldable, is_long, rough_rows
from kimi_tui.ui.conversation import Block
from kimi_tui.ui.drawing import INDENT, Drawing, tail_rows
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.pictures import Pictures
from kimi_tui.ui.rows import BLANK, Piece, Row
from kimi_tui.ui.streaming import OpenMarkdown, laid_out

KEPT = 800
"""Blocks whose rows are kept."""
KEPT_ROWS = 150_000
"""Rows of all of them; about half a kilobyte each."""
NEAREST = 40
"""Blocks that are kept however long they are: what is in sight is among them."""
STREAMS = 4
"""Answers that have been streamed and not been drawn since."""
UNKNOWN = 3
"""Rows guessed for an entry that is not loaded."""


class Drawn:
    """Draws for one width at a time."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.pictures = Pictures()
        self.width = 1
        self.unfold_all = False
        self.late: dict[Block, str] = {}
        """What is long and has only been drawn roughly, with its text."""
        self._laid_out: Block | None = None
        """What is drawn in full just now."""
        self._rows: OrderedDict[Block, list[Row]] = OrderedDict()
        self._held = 0
        """Rows in all of these."""
        self._open: dict[Block, OpenMarkdown] = {}

    def rows(self, block: Block) -> list[Row]:
        """The rows of one block."""
        rows = self._rows.get(block)
        if rows is None:
            rows = self._draw(block)
            self._keep(block, rows)
        else:
            self._rows.move_to_end(block)
        return rows

    def _keep(self, block: Block, rows: list[Row]) -> None:
        self._held += len(rows) - len(self._rows.get(block, ()))
        self._rows[block] = rows
        self._rows.move_to_end(block)
        while len(self._rows) > KEPT or (self._held > KEPT_ROWS and len(self._rows) > NEAREST):
            self._held -= len(self._rows.popitem(last=False)[1])

    def lay_out(self, block: Block) -> Callable[[], list[Row]]:
        """What draws a long block in full. It changes nothing here, may run in a thread, and gives up when the block
        has become another one meanwhile."""
        self._laid_out = block
        going = partial(self.is_laid_out, block)
        return partial(laid_out, self.late.pop(block), Drawing(self.width).column - INDENT, INDENT, going)

    def is_laid_out(self, block: Block) -> bool:
        return self._laid_out is block

    def take(self, block: Block, rows: list[Row]) -> bool:
        """The rows of a long block; false when it has become another one."""
        if not self.is_laid_out(block):
            return False
        self._laid_out = None
        self._keep(block, rows)
        return True

    def known(self, block: Block) -> list[Row] | None:
        """The rows as they were last drawn, if they are still kept."""
        return self._rows.get(block)

    def guess(self, block: Block) -> int:
        """How many rows it may be."""
        entry = block.entry
        if entry is None:
            return UNKNOWN
        if entry.kind in ("assistant", "user"):
            return 2 + entry.text.count("\n") + len(entry.text) // max(20, self.width)
        return 1 if entry.kind == "tool" else 2

    def forget(self, blocks: Iterable[Block] | None = None) -> None:
        """These (or all) look different now. What still streams goes on where it was, unless all is forgotten."""
        if blocks is None:
            self._rows.clear()
            self._open.clear()
            self.late.clear()
            self._held, self._laid_out = 0, None
            return
        for block in blocks:
            self._laid_out = None if block is self._laid_out else self._laid_out
            self._held -= len(self._rows.pop(block, ()))
            self.late.pop(block, None)

    def is_unfolded(self, block: Block) -> bool:
        return self.unfold_all if block.unfolded is None else block.unfolded

    def shows_images(self, block: Block) -> bool:
        """Whether there are any, and they are not folded away."""
        entry = block.entry
        if entry is None or (entry.tool and not (entry.tool.images and self.is_unfolded(block))):
            return False
        return bool(entry.images or entry.tool)

    def toggle(self, block: Block) -> bool:
        """Fold or unfold one block; whether there was anything to do."""
        if block.entry is None or not foldable(block.entry):
            return False
        block.unfolded = not self.is_unfolded(block)
        return True

    def _draw(self, block: Block) -> list[Row]:
        entry = block.entry
        if entry is None:
            return [Row((Piece(f"  {self.marks.more}", "faint"),)), BLANK]
        pictures = self.pictures.of(block)
        drawing = Drawing(self.width, self.is_unfolded(block), self.marks, block.live, block.helper, pictures)
        if not block.open:
            if (rows := self._streamed(block, entry, drawing.column - INDENT)) is not None:
                return rows
            if is_long(entry):
                self.late[block] = entry.text
                return rough_rows(entry, drawing, self.guess(block))
            return entry_rows(entry, drawing)
        if entry.kind == "thinking":
            lead = (Piece("  "), Piece(f"{self.marks.rail} ", "faint"))
            return tail_rows(entry.text, drawing, lead, "thinking", 4) or [BLANK]
        return self._draw_open(block, entry.text, drawing.column - INDENT)

    def _streamed(self, block: Block, entry: Entry, width: int) -> list[Row] | None:
        """What has just been streamed to its end need not be drawn once more as a whole."""
        stream = self._open.pop(block, None)
        if stream is None or stream.width != width:
            return None
        if entry.text.startswith(stream.source):  # its end came together with the word that it is the end
            stream.rows(entry.text)
        return stream.whole() if stream.source.strip() == entry.text.strip() else None

    def _draw_open(self, block: Block, text: str, width: int) -> list[Row]:
        stream = self._open.get(block)
        if stream is None or stream.width != width:
            stream = self._open[block] = OpenMarkdown(width, INDENT)
            if len(self._open) > STREAMS:
                del self._open[next(iter(self._open))]
        *rows, last = stream.rows(text) or [BLANK]
        return [*rows, Row((*last.pieces, Piece(self.marks.caret, "now")), last.gutter, last.joint)]
