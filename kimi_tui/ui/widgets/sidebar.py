"""The sidebar at work: what the user does in the timeline becomes commands and dialogs."""

from __future__ import annotations

from textual import on

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import RevertPreview, TimelineRow
from kimi_tui.ui.asks import Submit
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.widgets.timeline import Timeline
from kimi_tui.ui.widgets.timeline_pane import TimelinePane

REST = 0.12
"""Seconds the cursor rests on a row before its preview is asked for."""


class Sidebar(TimelinePane):
    """Asks for previews, opens the choice how to go back, and passes on what was chosen."""

    _preview: RevertPreview | None = None
    _aimed: TimelineRow | None = None

    @on(Timeline.Highlighted)
    def _ask_for_preview(self, event: Timeline.Highlighted) -> None:
        self._aimed = row = event.row
        if row is not None and row.kind == "checkpoint":
            self.set_timer(REST, lambda: self._still_aimed(row))

    def _still_aimed(self, row: TimelineRow) -> None:
        if row is self._aimed:
            self.post_message(Submit(cmd.PreviewRevert(row.checkpoint, row.file, row.offset)))

    def take_preview(self, preview: RevertPreview) -> None:
        """The agent's answer: for the panel here and for the open dialog."""
        self._preview = preview
        self.show_preview(preview)
        if isinstance(self.app.screen, RevertChoice):
            self.app.screen.show(preview)

    @on(Timeline.Chosen)
    def _choose(self, event: Timeline.Chosen) -> None:
        row = event.row
        if row is None:
            return
        if row.kind != "checkpoint":
            file = row.file or (row.switch.file if row.switch else None)
            if file:
                self.post_message(Submit(cmd.ListRotations()))
            return
        known = self._preview
        same = known is not None and (known.checkpoint, known.file) == (row.checkpoint, row.file)
        self.post_message(Submit(cmd.PreviewRevert(row.checkpoint, row.file, row.offset)))
        self.app.push_screen(RevertChoice(row, known if same else None), self._go)

    def _go(self, command: cmd.RevertTo | cmd.Fork | None) -> None:
        if command is not None:
            self.post_message(Submit(command))

    @on(Timeline.UndoAsked)
    def _undo(self) -> None:
        self.post_message(Submit(cmd.Undo()))

    @on(Timeline.RedoAsked)
    def _redo(self) -> None:
        self.post_message(Submit(cmd.Redo()))

    @on(Timeline.RotationsAsked)
    def _rotations(self) -> None:
        self.post_message(Submit(cmd.ListRotations()))

    @on(Timeline.CompareAsked)
    def _compare(self, event: Timeline.CompareAsked) -> None:
        self.post_message(Submit(cmd.CompareTimelines(event.left, event.right)))
