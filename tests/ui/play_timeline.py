"""The timeline and its dialogs without an agent, to be tried by hand: `python -m tests.ui.play_timeline [screen]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from kimi_tui.protocol.views import RevertPreview, TimelineRow
from kimi_tui.ui.marks import ASCII, UNICODE, Marks
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.theme import DARK, LIGHT
from kimi_tui.ui.widgets.timeline import Timeline
from kimi_tui.ui.widgets.timeline_pane import TimelinePane
from tests.ui.samples import NOW, PREVIEW, ROWS, long_timeline, point
from tests.ui.stage import Stage


class Play(Stage):
    CSS = "Static { width: 1fr; padding: 1 2; }"
    BINDINGS = [("ctrl+t", "timeline", "timeline"), ("plus", "grow", "a checkpoint")]

    def __init__(self, rows: Sequence[TimelineRow] = ROWS, marks: Marks = UNICODE, theme: str = DARK) -> None:
        super().__init__(theme=theme)
        self.rows = rows
        self.pane = TimelinePane(marks=marks)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("chat", markup=False)
            yield self.pane

    def on_mount(self) -> None:
        self.pane.timeline.clock = lambda: NOW
        self.pane.preview.clock = lambda: NOW
        self.pane.timeline.show(self.rows)
        self.pane.timeline.focus()

    def action_grow(self) -> None:
        self.pane.timeline.add_row(point(len(self.pane.timeline.list.rows), "another step", 300))

    @on(Timeline.Highlighted)
    def preview(self, event: Timeline.Highlighted) -> None:
        row = event.row
        if row is not None and row.kind == "checkpoint":
            self.pane.show_preview(
                RevertPreview(
                    row.checkpoint,
                    row.file,
                    PREVIEW.steps,
                    PREVIEW.messages,
                    PREVIEW.tokens,
                    PREVIEW.tool_calls,
                    PREVIEW.files,
                    PREVIEW.tasks,
                    PREVIEW.prompt,
                )
            )

    @on(Timeline.Chosen)
    def choose(self, event: Timeline.Chosen) -> None:
        if event.row is not None:
            screen = RevertChoice(event.row, PREVIEW, files=True)
            screen.clock = lambda: NOW
            self.push_screen(screen, self.say)

    @on(Timeline.CompareAsked)
    @on(Timeline.NameAsked)
    @on(Timeline.UndoAsked)
    @on(Timeline.RedoAsked)
    @on(Timeline.RotationsAsked)
    @on(Timeline.Left)
    def say(self, what: object) -> None:
        self.said.append(what)
        self.query_one(Static).update(f"{what}")


SCREENS = {"rotations": Rotations}


def main(words: list[str]) -> App[None]:
    for word in words:
        if word in SCREENS:
            return Stage(SCREENS[word], LIGHT if "light" in words else DARK)
    rows = long_timeline(5000) if "long" in words else ROWS
    return Play(rows, ASCII if "ascii" in words else UNICODE, LIGHT if "light" in words else DARK)


if __name__ == "__main__":
    main(sys.argv[1:]).run()
