"""A tool waits for a word: what it wants to do, in full, and four answers.

`ask(approval)` shows it (or puts it behind the one that is shown), `withdraw(request_id)` takes it away. Posts
`Answered(request_id, decision, feedback)`, whose `command` is the `AnswerApproval` to submit; focus as in `panel.py`.
Page Up and Page Down scroll the diff. See `guarded.py` for why nothing typed can answer it by accident.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from kimi_tui.protocol.commands import AnswerApproval
from kimi_tui.protocol.views import ApprovalView
from kimi_tui.ui.cells import cut, cut_start, exact, literal, wrap
from kimi_tui.ui.tones import Rows, hint_row, spread
from kimi_tui.ui.widgets.diff_block import DiffBlock
from kimi_tui.ui.widgets.fields import Field
from kimi_tui.ui.widgets.guarded import GuardedOptions
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.panel import Panel
from kimi_tui.ui.widgets.sheet import Sheet

Decision = Literal["once", "session", "reject"]

KEYS = (("enter", "answer"), ("1-4", "pick"), ("pgup/pgdn", "scroll"))
WHY = (("enter", "send"), ("esc", "back"))


def answers(approval: ApprovalView) -> list[Option]:
    """What can be answered; what «always» means is spelled out."""
    rule = approval.rule or f"every call of {approval.tool}"
    always = [] if approval.explicit else [Option("session", "always for this session", rule)]
    return [
        Option("once", "allow once"),
        *always,
        Option("reject", "reject"),
        Option("why", "reject and say why …"),
    ]


class ApprovalPanel(Panel):
    """See the module."""

    @dataclass
    class Answered(Message):
        request_id: str
        decision: Decision
        feedback: str = ""

        @property
        def command(self) -> AnswerApproval:
            return AnswerApproval(self.request_id, self.decision, self.feedback)

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.waiting: list[ApprovalView] = []
        self.in_turn = True
        self.diff = DiffBlock(classes="diff scrolled")

    def compose(self) -> ComposeResult:
        yield Sheet(self._head, classes="head")
        yield self.diff
        with VerticalScroll(classes="detail scrolled", can_focus=False):
            yield Sheet(self._detail)
        yield self.options
        yield Field(placeholder="tell the model why, or what to do instead", classes="why")
        yield Sheet(self._hints, classes="hints")

    # --- what is asked --------------------------------------------------------------------------------------------

    @property
    def approval(self) -> ApprovalView | None:
        """The one that is shown."""
        return self.waiting[0] if self.waiting else None

    def ask(self, approval: ApprovalView) -> None:
        self.waiting.append(approval)
        if len(self.waiting) == 1:
            self._show()
        else:
            self.query_one(".head", Sheet).changed()

    def withdraw(self, request_id: str) -> None:
        """Also right for one that is not known or was answered already."""
        shown = self.approval
        self.waiting = [approval for approval in self.waiting if approval.request_id != request_id]
        if self.approval is not shown:
            self._show()
        elif self.waiting:
            self.query_one(".head", Sheet).changed()

    def withdraw_all(self) -> None:
        self.waiting.clear()
        self._show()

    @property
    def asking(self) -> bool:
        return bool(self.waiting)

    def _show(self) -> None:
        self.start_anew()
        approval = self.approval
        if approval is not None:
            self.set_class(bool(approval.diffs), "-diff")
            self.options.change(answers(approval))
            self.diff.show(approval.diffs)
            self.diff.scroll_home(animate=False)
            self.query_one(".detail").scroll_home(animate=False)
            self.told_anew()

    # --- what it says ---------------------------------------------------------------------------------------------

    def _head(self, width: int) -> Rows:
        approval = self.approval
        if approval is None:
            return [[]]
        more = f"1 of {len(self.waiting)}" if len(self.waiting) > 1 else literal(approval.tool)
        if self.has_class("-low") and not self.focused_here:
            more = "tab: answer"
        action = literal(approval.action)
        rows: Rows = [spread([(f"{action[:1].upper()}{action[1:]}?", "strong moved")], [(more, "quiet")], width)]
        if approval.asker:
            rows.append([("asked by the subagent ", "quiet"), (cut(literal(approval.asker), max(1, width - 22)), "")])
        if approval.outside:
            rows.append([("outside the allowed folders", "bad")])
            if approval.diffs:
                rows.append([(cut_start(exact(approval.detail), width), "")])
        return rows

    def _detail(self, width: int) -> Rows:
        approval = self.approval
        if approval is None:
            return []
        rows = [row for line in approval.detail.split("\n") for row in wrap(exact(line), max(1, width - 2))]
        return [[("  ", ""), (row, "")] for row in rows]

    def _hints(self, width: int) -> Rows:
        if self.has_class("-words"):
            return [hint_row(WHY, width)]
        here = self.focused_here
        keys = [*(KEYS if here else ()), self.hint("answer", "tab", "prompt" if here else "answer")]
        return [hint_row([*keys, self.hint("stop", "esc", "stop the turn")] if self.in_turn else keys, width)]

    def turns(self, running: bool) -> None:
        """Whether a turn runs that Esc would stop; a subagent in the background asks without one."""
        if running != self.in_turn:
            self.in_turn = running
            self._hints_changed()

    # --- answers --------------------------------------------------------------------------------------------------

    @on(Options.Chosen)
    def _choose(self, event: Options.Chosen) -> None:
        event.stop()
        if event.key == "why":
            self.ask_for_words()
        else:
            decisions: dict[str, Decision] = {"once": "once", "session": "session"}
            self._answer(decisions.get(event.key, "reject"))

    @on(Input.Submitted)
    def _explain(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer("reject", event.value.strip())

    def _answer(self, decision: Decision, feedback: str = "") -> None:
        approval = self.approval
        if approval is None:
            return
        self.waiting.pop(0)
        self.post_message(self.Answered(approval.request_id, decision, feedback))
        if self.query_one(Input).has_focus and self.waiting:
            self.options.focus()
        self._show()

    @on(GuardedOptions.Paged)
    def _scroll(self, event: GuardedOptions.Paged) -> None:
        event.stop()
        body: Widget = self.diff if self.has_class("-diff") else self.query_one(".detail")
        body.scroll_relative(y=event.by * max(1, body.size.height - 1), animate=False)
