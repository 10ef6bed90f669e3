"""How to go back: conversation, files, both, or into a copy. Nothing happens before Enter, Esc changes nothing.

The result is the command to submit (`RevertTo` or `Fork`), or None.
"""

from __future__ import annotations

import time

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from kimi_tui.protocol.commands import Fork, RevertTo
from kimi_tui.protocol.views import RevertPreview, TimelineRow
from kimi_tui.ui.branch_rows import offset_of
from kimi_tui.ui.cells import ago, cut, literal, plural
from kimi_tui.ui.screens.dialog import Dialog
from kimi_tui.ui.tones import Rows, hint_row, spread
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.preview import drops, files_rows
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

UNTOUCHED = "no file on disk changes"


def ways(row: TimelineRow, preview: RevertPreview | None, files: bool) -> list[Option]:
    """What can be chosen for this point, the safe one first. `files`: a snapshot of the files exists."""
    options = [Option("conversation", "conversation", UNTOUCHED)]
    if files:
        touched = plural(len(preview.files), "file") if preview and preview.files else "files"
        options += [
            Option("both", "conversation and files", f"puts {touched} back too; can be undone", "moved"),
            Option("files", "files", "the conversation stays", "moved"),
        ]
    return [
        *options,
        Option("fork", "fork", "goes on in a copy; this session stays"),
        Option("cancel", "cancel"),
    ]


class RevertChoice(Dialog[RevertTo | Fork]):
    """Asks about `row`. `files` tells whether files can be put back; `note` drafts the carry-over note."""

    def __init__(
        self, row: TimelineRow, preview: RevertPreview | None = None, *, files: bool = False, note: str = ""
    ) -> None:
        super().__init__()
        self.row = row
        self.preview = preview
        self.files = files
        self.draft = note
        self.clock = time.time

    def body(self) -> ComposeResult:
        yield Sheet(self._facts, classes="facts")
        yield Options(ways(self.row, self.preview, self._restorable), classes="options")
        yield Input(self.draft, placeholder="a note for the earlier point (optional)", classes="note")
        yield Sheet(self._hints)

    def on_mount(self) -> None:
        self.query_one(Options).focus()

    def show(self, preview: RevertPreview) -> None:
        """The figures, when they come after the question was opened."""
        if (preview.checkpoint, preview.file) == (self.row.checkpoint, self.row.file):
            self.preview = preview
            self.query_one(".facts", Sheet).changed()
            self.query_one(Options).change(ways(self.row, preview, self._restorable))

    @property
    def _restorable(self) -> bool:
        return self.files or (self.preview is not None and self.preview.restorable)

    def _facts(self, width: int) -> Rows:
        row, preview = self.row, self.preview
        number = "" if row.checkpoint is None else f" {row.checkpoint}"
        title = f"Go back to{number}?" if row.file is None else f"Go over to{number} of {literal(row.file)}?"
        rows: Rows = [spread([(title, "strong moved")], [(ago(row.at, self.clock()), "faint")], width)]
        if row.label:
            rows += paragraph(literal(row.label), width, "", 2)
        if preview is None:
            return rows
        rows += paragraph(drops(preview), width, "quiet", 3)
        rows += files_rows(preview, width, 4)
        rows += [[("still runs ", "moved"), (cut(literal(task), width - 11), "")] for task in preview.tasks[:3]]
        if preview.prompt:
            rows += [[(cut("its prompt comes back into the input", width), "quiet")]]
        return rows

    def _hints(self, width: int) -> Rows:
        return [hint_row((("enter", "choose"), ("tab", "note"), ("esc", "nothing changes")), width)]

    @on(Options.Chosen)
    def _choose(self, event: Options.Chosen) -> None:
        event.stop()
        self.dismiss(self.command(event.key))

    @on(Input.Submitted)
    def _noted(self, event: Input.Submitted) -> None:
        """Enter in the note goes back to the choice: the note alone never moves time."""
        event.stop()
        self.query_one(Options).focus()

    def command(self, way: str) -> RevertTo | Fork | None:
        row = self.row
        offset = offset_of(row)
        if way == "cancel":
            return None
        if way == "fork":
            return Fork(row.checkpoint, row.file, offset)
        note = self.query_one(Input).value.strip()
        return RevertTo(
            row.checkpoint,
            row.file,
            offset,
            note=note if way != "files" else "",
            files="restore" if way == "both" else "only" if way == "files" else "keep",
        )
