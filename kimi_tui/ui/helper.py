"""The row that says how a subagent stands, below the row of the call that started it."""

from __future__ import annotations

from kimi_tui.protocol.views import SubagentView
from kimi_tui.ui.cells import count, plural
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.meter import bar
from kimi_tui.ui.rows import Piece, Row, spread
from kimi_tui.ui.text import one_line

BAR = 16
"""Cells of its gauge."""


def rail(marks: Marks) -> tuple[Piece, Piece]:
    """What stands before every row that is the subagent's."""
    return Piece("    "), Piece(f"{marks.rail} ", "faint")


def helper_head(helper: SubagentView, running: bool, width: int, marks: Marks) -> Row:
    """`│ ━━╍─────── 12.4k · 3 steps  Read parser.py`."""
    gauge = bar(helper.tokens, BAR, marks) if helper.tokens.window else []
    figures = f" {count(helper.tokens.total)} {marks.dot} {plural(helper.steps, 'step')}"
    doing = f"  {one_line(helper.doing)}" if running and helper.doing else ""
    row = [*rail(marks), *gauge, Piece(figures, "quiet"), Piece(doing, "faint")]
    return Row(spread(row, [], width), 6)
