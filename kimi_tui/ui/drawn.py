"""The rows of the blocks of a conversation, drawn once and kept while they are likely to be seen again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from kimi_tui.protocol.views import Entry
from kimi_tui.ui.blocks import INDENT, Drawing, entry_rows, foldable, tail_rows
from kimi_tui.ui.conversation import Block
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.pictures import Pictures
from kimi_tui.ui.rows import BLANK, Piece, Row
from kimi_tui.ui.streaming import OpenMarkdown

KEPT = 800
"""Blocks whose rows are kept."""
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
        self._rows: OrderedDict[Block, list[Row]] = OrderedDict()
        self._open: dict[Block, OpenMarkdown] = {}

    def rows(self, block: Block) -> list[Row]:
        """The rows of one block."""
        rows = self._rows.get(block)
        if rows is None:
            rows = self._rows[block] = self._draw(block)
            if len(self._rows) > KEPT:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(block)
        return rows

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
            return
        for block in blocks:
            self._rows.pop(block, None)

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
            return self._streamed(block, entry, drawing.column - INDENT) or entry_rows(entry, drawing)
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
