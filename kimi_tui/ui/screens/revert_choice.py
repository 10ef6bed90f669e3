"""How to go back, or over to a rotation: conversation, files, both, or into a copy. Nothing happens before Enter, Esc
changes nothing. Who opens it asks for `PreviewRevert`; it asks for `DraftNote` when the note is to be drafted.

The result is the command to submit (`RevertTo` or `Fork`), or None.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from kimi_tui.protocol.commands import DraftNote, Fork, RevertTo, StopDraft
from kimi_tui.protocol.events import Event, NoteDrafted, RevertPreviewed
from kimi_tui.protocol.views import RevertPreview, TimelineRow
from kimi_tui.ui.branch_rows import offset_of
from kimi_tui.ui.cells import ago, cut, literal, plural
from kimi_tui.ui.listening import ask
from kimi_tui.ui.screens.dialog import Dialog
from kimi_tui.ui.screens.file_changes import FileChanges
from kimi_tui.ui.tones import Rows, hint_row, spread
from kimi_tui.ui.widgets.note import Note
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.preview import drops, files_rows
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

UNTOUCHED = "no file on disk changes"
KEPT = "all of it becomes the live timeline; the present is kept as a rotation, so this can be undone"
UNRECORDED = "the files stay as they are: how they were at this point is not recorded"


def outcome(preview: RevertPreview | None, overwritten: Collection[str] = ()) -> str:
    """`changes 3 files, keeps 1 you edited`: what would become of the files together."""
    if preview is None:
        return "puts files back too; can be undone"
    found = [file for file in preview.files if not file.stays]
    if not found:
        return "no file has to change"
    kept = sum(bool(file.change and file.changed_since) and file.path not in overwritten for file in found)
    changed = f"changes {plural(len(found) - kept, 'file')}" if len(found) > kept else "changes no file"
    return f"{changed}, keeps {kept} you edited" if kept else f"{changed}; can be undone"


def ways(
    row: TimelineRow, preview: RevertPreview | None, files: bool, overwritten: Collection[str] = ()
) -> list[Option]:
    """What can be chosen for this point, the safe one first. `files`: a snapshot of the files exists."""
    options = [Option("conversation", "conversation", UNTOUCHED)]
    if files:
        options += [
            Option("both", "conversation and files", outcome(preview, overwritten), "moved"),
            Option("files", "files", "the conversation stays", "moved"),
        ]
    return [
        *options,
        Option("fork", "fork", "goes on in a copy; this session stays"),
        Option("cancel", "cancel"),
    ]


class RevertChoice(Dialog[RevertTo | Fork]):
    """Asks about `row`. `files` tells whether files can be put back; `note` is the carry-over note to begin with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "files", "what happens to each file"),
        Binding("d", "draft", "have the note drafted by the model"),
        Binding("ctrl+r", "draft", "have the note drafted", show=False, priority=True),
    ]

    def __init__(
        self, row: TimelineRow, preview: RevertPreview | None = None, *, files: bool = False, note: str = ""
    ) -> None:
        super().__init__()
        self.row = row
        self.preview = preview
        self.files = files
        self.note = Note(note)
        self._drafts = 0
        self.clock = time.time
        self.overwrite: set[str] = set()
        """Files edited since that are to be put back all the same: ticked by hand, never by us."""

    def body(self) -> ComposeResult:
        yield Sheet(self._facts, classes="facts")
        yield Options(self._ways(), classes="options")
        yield self.note
        yield Sheet(self._hints)

    def on_mount(self) -> None:
        self.query_one(Options).focus()

    def show(self, preview: RevertPreview) -> None:
        """The figures, when they come after the question was opened."""
        if (preview.checkpoint, preview.file) == (self.row.checkpoint, self.row.file):
            self.preview = preview
            self._changed()

    def on_screen_resume(self) -> None:
        """Back from the files, where some may have been ticked."""
        self._changed()

    def _changed(self) -> None:
        for sheet in self.query(Sheet):
            sheet.changed()
        for options in self.query(Options):
            options.change(self._ways())

    def _ways(self) -> list[Option]:
        return ways(self.row, self.preview, self._restorable, self.overwrite)

    @property
    def _restorable(self) -> bool:
        return self.files or (self.preview is not None and self.preview.restorable)

    def _facts(self, width: int) -> Rows:
        row, preview = self.row, self.preview
        rows: Rows = [spread([(self._title(), "strong moved")], [(ago(row.at, self.clock()), "faint")], width)]
        if row.label:
            rows += paragraph(literal(row.label), width, "", 2)
        if preview is None:
            return rows
        rows += paragraph(drops(preview) if row.checkpoint is not None else KEPT, width, "quiet", 3)
        rows += files_rows(preview, width, 4, self.overwrite, ": f shows them")
        if preview.files and not self._restorable:
            rows += paragraph(UNRECORDED, width, "quiet", 2)
        rows += [[("still runs ", "moved"), (cut(literal(task), width - 11), "")] for task in preview.tasks[:3]]
        if preview.prompt:
            rows += [[(cut("its prompt comes back into the input", width), "quiet")]]
        return rows

    def _title(self) -> str:
        row = self.row
        if row.file is None:
            return f"Go back to {row.checkpoint}?"
        where = literal(row.file)
        return f"Restore {where}?" if row.checkpoint is None else f"Go over to {row.checkpoint} of {where}?"

    def _hints(self, width: int) -> Rows:
        files = (("f", "files"),) if self._files_known else ()
        return [hint_row((("enter", "choose"), *files, ("tab", "note"), ("esc", "nothing changes")), width)]

    @property
    def _files_known(self) -> bool:
        return self.preview is not None and self.preview.restorable and bool(self.preview.files)

    def action_files(self) -> None:
        if self.preview is not None and self._files_known:
            self.app.push_screen(FileChanges(self.row, self.preview.files, self.overwrite))

    @on(Options.Chosen)
    def _choose(self, event: Options.Chosen) -> None:
        event.stop()
        if self.note.drafting and event.key not in ("cancel", "fork"):
            self.note.say("the note is being drafted: esc stops that", "moved")
        else:
            self.dismiss(self.command(event.key))

    # --- the note -------------------------------------------------------------------------------------------------

    def action_draft(self) -> None:
        self.note.start()

    @on(Note.Wanted)
    def _draft(self, event: Note.Wanted) -> None:
        event.stop()
        self._drafts += 1
        row = self.row
        ask(self, DraftNote(row.checkpoint, row.file, offset_of(row), event.begun, self._drafts))

    @on(Note.Unwanted)
    def _draft_no_more(self, event: Note.Unwanted) -> None:
        event.stop()
        ask(self, StopDraft())

    def take(self, event: Event) -> None:
        """An answer for a draft that was given up is dropped."""
        if isinstance(event, RevertPreviewed):
            self.show(event.preview)
        elif isinstance(event, NoteDrafted) and event.number == self._drafts and self.note.drafting:
            self.note.take(event)

    @on(Note.Left)
    def _noted(self, event: Note.Left) -> None:
        """Enter in the note goes back to the choice: the note alone never moves time."""
        event.stop()
        self.query_one(Options).focus()

    def action_dismiss_nothing(self) -> None:
        """Esc stops a draft first."""
        if self.note.drafting:
            self.note.stop()
        else:
            super().action_dismiss_nothing()

    def on_unmount(self) -> None:
        if self.note.drafting:
            ask(self, StopDraft())

    def command(self, way: str) -> RevertTo | Fork | None:
        row = self.row
        offset = offset_of(row)
        if way == "cancel":
            return None
        if way == "fork":
            return Fork(row.checkpoint, row.file, offset)
        note = self.note.text
        return RevertTo(
            row.checkpoint,
            row.file,
            offset,
            note=note if way != "files" else "",
            files="restore" if way == "both" else "only" if way == "files" else "keep",
            overwrite=tuple(sorted(self.overwrite)) if way in ("both", "files") else (),
        )
