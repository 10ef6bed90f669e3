"""The sidebar at work: what the user does in the timeline becomes commands and dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import on

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import RevertPreview, TimelineRow
from kimi_tui.ui.asks import Submit
from kimi_tui.ui.branch_rows import branch_rows, offset_of, own_from
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.widgets.timeline import Timeline
from kimi_tui.ui.widgets.timeline_pane import TimelinePane

REST = 0.12
"""Seconds the cursor rests on a row before its preview is asked for."""


class Sidebar(TimelinePane):
    """Asks for previews, opens the choice how to go back, and passes on what was chosen."""

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__(marks=marks)
        self.marks = marks
        self._preview: RevertPreview | None = None
        self._aimed: TimelineRow | None = None
        self._unfolding: TimelineRow | None = None
        """The rotation whose branch is being read."""
        self._notes: dict[tuple[int | None, str | None], str] = {}
        """What was written for a point that was not gone to after all, or not yet: it may have cost something."""

    @on(Timeline.Highlighted)
    def _ask_for_preview(self, event: Timeline.Highlighted) -> None:
        self._aimed = row = event.row
        if row is not None and row.kind == "checkpoint":
            self.set_timer(REST, lambda: self._still_aimed(row))

    def _still_aimed(self, row: TimelineRow) -> None:
        if row is self._aimed:
            self._preview_of(row)

    def _preview_of(self, row: TimelineRow) -> None:
        self.post_message(Submit(cmd.PreviewRevert(row.checkpoint, row.file, offset_of(row))))

    def take_preview(self, preview: RevertPreview) -> None:
        """The agent's answer: for the panel here. An open dialog hears it by itself."""
        self._preview = preview
        self.show_preview(preview)

    @on(Timeline.Chosen)
    def _choose(self, event: Timeline.Chosen) -> None:
        row = event.row
        if row is None:
            return
        match row.kind:
            case "switch" if row.switch:
                self._read(row)
            case "rotation":
                self.browse(row.file)
            case "checkpoint":
                self._choose_how(row)

    def _choose_how(self, row: TimelineRow) -> None:
        known = self._preview
        same = known is not None and (known.checkpoint, known.file) == (row.checkpoint, row.file)
        self._preview_of(row)
        from kimi_tui.ui.pages import RevertChoice

        point = (row.checkpoint, row.file)
        choice = RevertChoice(row, known if same else None, note=self._notes.get(point, ""))

        def chosen(command: cmd.Command | None) -> None:
            self._notes[point] = choice.note.kept
            self._go(command)

        self.app.push_screen(choice, chosen)

    def time_moved(self) -> None:
        """The notes for points that were looked at are of no use any more."""
        self._notes.clear()

    def _go(self, command: cmd.Command | None) -> None:
        if command is not None:
            self.post_message(Submit(command))

    def _answer(self, command: cmd.Command | None) -> None:
        match command:
            case cmd.ReadRotation(file):
                self.browse(file)
            case cmd.CompareTimelines(left, right):
                self._weigh(left, right)
            case _:
                self._go(command)

    @on(Timeline.UndoAsked)
    def _undo(self) -> None:
        self.post_message(Submit(cmd.Undo()))

    @on(Timeline.RedoAsked)
    def _redo(self) -> None:
        self.post_message(Submit(cmd.Redo()))

    @on(Timeline.RotationsAsked)
    def _rotations(self) -> None:
        self.browse()

    def browse(self, file: str | None = None) -> None:
        """Open the rotation browser, with one file chosen."""
        from kimi_tui.ui.pages import Rotations

        self.app.push_screen(Rotations(file, self.marks))

    def _read(self, row: TimelineRow) -> None:
        from kimi_tui.ui.pages import Jump

        self.app.push_screen(Jump(row, self.marks), self._answer)

    @on(Timeline.BranchAsked)
    def _read_branch(self, event: Timeline.BranchAsked) -> None:
        if event.row.file:
            self._unfolding = event.row
            self.post_message(Submit(cmd.ReadRotation(event.row.file)))

    def take_rotation(self, file: str, rows: Sequence[TimelineRow]) -> None:
        """A file that was left behind has been read: unfold its branch, if that is what it was asked for."""
        row, self._unfolding = self._unfolding, None
        if row is not None and row.file == file:
            self.timeline.add_branch(file, branch_rows(rows, own_from(self.timeline.list.switch_of(file))))

    @on(Timeline.NameAsked)
    def _ask_for_name(self, event: Timeline.NameAsked) -> None:
        row = event.row
        if row.checkpoint is None:
            return
        named = partial(cmd.NameCheckpoint, row.checkpoint, file=row.file, offset=offset_of(row))
        from kimi_tui.ui.pages import LinePrompt

        title = f"A name for checkpoint {row.checkpoint}"
        self.app.push_screen(LinePrompt(title, row.name), lambda name: self._go(None if name is None else named(name)))

    @on(Timeline.CompareAsked)
    def _compare(self, event: Timeline.CompareAsked) -> None:
        self._weigh(event.left, event.right)

    def _weigh(self, left: str, right: str) -> None:
        from kimi_tui.ui.pages import Compare

        self.app.push_screen(Compare(left, right, self.marks))
