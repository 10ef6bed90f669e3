"""A jump in time, read in full: the D-Mail, the head of the summary, what it folded. It can be undone from here.

The result is `Undo()` for a veto of the newest jump, `ReadRotation(file)` to read what it left behind,
`CompareTimelines(file, "now")`, or None.
"""

from __future__ import annotations

import time

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from kimi_tui.protocol.commands import CompareTimelines, ReadRotation, Undo
from kimi_tui.protocol.views import SwitchView, TimelineRow
from kimi_tui.ui.cells import ago, count, literal, plural
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.dialog import Dialog
from kimi_tui.ui.timeline_draw import switch_mark, switch_tone, switch_words
from kimi_tui.ui.tones import Rows, hint_row, spread
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

Answer = Undo | ReadRotation | CompareTimelines


class Jump(Dialog[Answer]):
    """Opened from the row of a jump."""

    def __init__(self, row: TimelineRow, marks: Marks = UNICODE) -> None:
        super().__init__()
        assert row.switch is not None
        self.switch: SwitchView = row.switch
        self.undoable = row.undoable
        self.marks = marks
        self.clock = time.time

    def body(self) -> ComposeResult:
        yield Sheet(self._head)
        if self.switch.note:
            with VerticalScroll(classes="letter", can_focus=False):
                yield Sheet(lambda width: paragraph(self.switch.note, width, "", 500))
        yield Options(self._ways(), classes="options")
        yield Sheet(lambda width: [hint_row((("enter", "choose"), ("esc", "back")), width)])

    def on_mount(self) -> None:
        self.query_one(Options).focus()

    def _ways(self) -> list[Option]:
        ways = [Option("back", "leave it as it is")]
        if self.switch.file:
            ways += [
                Option("read", f"read {self.switch.file}", "what it left behind"),
                Option("compare", "compare it with now", "what one has and the other has not"),
            ]
        if self.undoable:
            ways.append(Option("undo", "undo this jump", "what came after it is kept as a rotation", "moved"))
        return ways

    def _head(self, width: int) -> Rows:
        switch, arrow = self.switch, self.marks.arrow
        title = f"{switch_mark(switch, self.marks)} {switch_words(switch, self.marks)}"
        change = (
            f"{count(switch.messages_before)} {arrow} {plural(switch.messages_after, 'message')} · "
            f"{count(switch.tokens_before)} {arrow} {plural(switch.tokens_after, 'token')}"
        )
        head = spread([(title, f"strong {switch_tone(switch)}")], [(ago(switch.at, self.clock()), "faint")], width)
        return [head, *paragraph(literal(change), width, "quiet", 2)]

    @on(Options.Chosen)
    def _choose(self, event: Options.Chosen) -> None:
        event.stop()
        file = self.switch.file
        results: dict[str, Answer] = {
            "undo": Undo(),
            "read": ReadRotation(file),
            "compare": CompareTimelines(file, "now"),
        }
        self.dismiss(results.get(event.key))
