"""The timeline and its dialogs without an agent, to be tried by hand: `python -m tests.ui.play_timeline [screen]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from kimi_tui.protocol.views import ApprovalView, RevertPreview, TimelineRow
from kimi_tui.ui.marks import ASCII, UNICODE, Marks
from kimi_tui.ui.screens.compare import Compare
from kimi_tui.ui.screens.context_view import ContextView
from kimi_tui.ui.screens.model_picker import ModelPicker
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.screens.sessions import Sessions
from kimi_tui.ui.theme import DARK, LIGHT
from kimi_tui.ui.widgets.approval import ApprovalPanel
from kimi_tui.ui.widgets.guarded import GuardedOptions
from kimi_tui.ui.widgets.panel import Panel
from kimi_tui.ui.widgets.question import QuestionPanel
from kimi_tui.ui.widgets.timeline import Timeline
from kimi_tui.ui.widgets.timeline_pane import TimelinePane
from tests.ui.samples import COMMAND, EDIT, NOW, OUTSIDE, PREVIEW, QUESTIONS, ROWS, long_timeline, point
from tests.ui.stage import Stage


class Play(Stage):
    CSS = "#chat { width: 1fr; padding: 1 2; }"
    BINDINGS = [("ctrl+t", "timeline", "timeline"), ("plus", "grow", "a checkpoint")]

    def __init__(self, rows: Sequence[TimelineRow] = ROWS, marks: Marks = UNICODE, theme: str = DARK) -> None:
        super().__init__(theme=theme)
        self.rows = rows
        self.pane = TimelinePane(marks=marks)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("chat", markup=False, id="chat")
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
        self.query_one("#chat", Static).update(f"{what}")


class Questions(Stage):
    """The panels above a prompt."""

    CSS = "#chat { height: 1fr; padding: 1 2; }"

    def __init__(self, approvals: Sequence[ApprovalView] = (EDIT, COMMAND, OUTSIDE), theme: str = DARK) -> None:
        super().__init__(theme=theme)
        self.approvals = approvals
        self.panel = ApprovalPanel()
        self.question = QuestionPanel()
        self.prompt = Input(select_on_focus=False)

    def compose(self) -> ComposeResult:
        yield Static("chat", markup=False, id="chat")
        yield self.panel
        yield self.question
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.focus()
        for approval in self.approvals:
            self.panel.ask(approval)
        if not self.approvals:
            self.question.ask("q1", QUESTIONS)

    def on_key(self, event: events.Key) -> None:
        if event.key == "tab":
            event.prevent_default()
            panel = self.panel if self.panel.asking else self.question
            self.prompt.focus() if panel.focused_here else panel.answer_now()

    @on(ApprovalPanel.Answered)
    @on(QuestionPanel.Answered)
    def say(self, event: ApprovalPanel.Answered | QuestionPanel.Answered) -> None:
        self.said.append(event.command)

    @on(GuardedOptions.Typed)
    def type(self, event: GuardedOptions.Typed) -> None:
        self.prompt.focus()
        self.prompt.insert_text_at_cursor(event.text)

    @on(Panel.Emptied)
    def empty(self) -> None:
        self.prompt.focus()


SCREENS: dict[str, Callable[[], Screen[None]]] = {
    "rotations": Rotations,
    "compare": lambda: Compare("context_3.jsonl@4"),
    "context": ContextView,
    "sessions": lambda: Sessions("/s/1"),
    "models": ModelPicker,
}


def main(words: list[str]) -> App[None]:
    for word in words:
        if word in SCREENS:
            return Stage(SCREENS[word], LIGHT if "light" in words else DARK)
    if "question" in words:
        return Questions((), LIGHT if "light" in words else DARK)
    if "approval" in words:
        return Questions(theme=LIGHT if "light" in words else DARK)
    rows = long_timeline(5000) if "long" in words else ROWS
    return Play(rows, ASCII if "ascii" in words else UNICODE, LIGHT if "light" in words else DARK)


if __name__ == "__main__":
    main(sys.argv[1:]).run()
