"""Where the agent's questions stand, above the prompt: approvals and questions, whichever is open."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from kimi_tui.protocol import events as ev
from kimi_tui.ui.asks import Submit
from kimi_tui.ui.widgets.approval import ApprovalPanel
from kimi_tui.ui.widgets.guarded import GuardedOptions
from kimi_tui.ui.widgets.panel import Panel
from kimi_tui.ui.widgets.question import QuestionPanel


class Asking(Vertical):
    """Passes answers on as commands. Posts `Answered` when nothing is asked any more and `Typed` for letters that were
    meant for the prompt."""

    class Answered(Message):
        pass

    class Typed(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__()
        self.approval = ApprovalPanel()
        self.question = QuestionPanel()

    def compose(self) -> ComposeResult:
        yield self.approval
        yield self.question

    @property
    def open(self) -> Panel | None:
        """The panel that waits for an answer."""
        return next((panel for panel in (self.approval, self.question) if panel.asking), None)

    def take(self, event: ev.Event, *, offer: bool) -> None:
        """Show or withdraw a question; with `offer` it may have the focus, since nothing is being typed."""
        match event:
            case ev.ApprovalRequested(approval):
                self.approval.ask(approval)
            case ev.QuestionAsked(request_id, questions):
                self.question.ask(request_id, questions)
            case ev.ApprovalWithdrawn(request_id):
                self.approval.withdraw(request_id)
                return
            case ev.QuestionWithdrawn(request_id):
                self.question.withdraw(request_id)
                return
            case _:
                return
        if offer and self.open:
            self.open.offer()

    @on(ApprovalPanel.Answered)
    def _approval_answered(self, event: ApprovalPanel.Answered) -> None:
        self.post_message(Submit(event.command))

    @on(QuestionPanel.Answered)
    def _question_answered(self, event: QuestionPanel.Answered) -> None:
        self.post_message(Submit(event.command))

    @on(Panel.Emptied)
    def _emptied(self) -> None:
        if self.open is None:
            self.post_message(self.Answered())

    @on(GuardedOptions.Typed)
    def _typed(self, event: GuardedOptions.Typed) -> None:
        self.post_message(self.Typed(event.text))
