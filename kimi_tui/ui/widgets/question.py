"""The model asks the user something: options, several of them where allowed, or words of one's own.

`ask(request_id, questions)` shows it, `withdraw(request_id)` takes it away. One question is shown at a time, ← goes
back to the one before. Posts `Answered(request_id, answers)`, whose `command` is the `AnswerQuestion` to submit (no
answers: declined); focus and guards are as in `panel.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from kimi_tui.protocol.commands import AnswerQuestion
from kimi_tui.protocol.views import QuestionView
from kimi_tui.ui.cells import literal
from kimi_tui.ui.tones import Rows, Span, hint_row, spread
from kimi_tui.ui.widgets.fields import Field
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.panel import Panel
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

Answers = tuple[tuple[str, ...], ...]

OTHER, DECLINE = "\x00other", "\x00decline"
"""Keys of the two options that are ours; no label can be these."""


@dataclass(slots=True)
class Request:
    """One call of the tool, half answered."""

    request_id: str
    questions: tuple[QuestionView, ...]
    answers: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def question(self) -> QuestionView:
        return self.questions[len(self.answers)]


class QuestionPanel(Panel):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", show=False),
        Binding("left", "previous", show=False),
    ]

    @dataclass
    class Answered(Message):
        request_id: str
        answers: Answers

        @property
        def command(self) -> AnswerQuestion:
            return AnswerQuestion(self.request_id, self.answers)

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.waiting: list[Request] = []
        self._ticked: set[str] = set()

    def compose(self) -> ComposeResult:
        yield Sheet(self._head, classes="head")
        yield self.options
        yield Field(placeholder="your own answer", classes="other")
        yield Sheet(self._hints, classes="hints")

    # --- what is asked --------------------------------------------------------------------------------------------

    @property
    def request(self) -> Request | None:
        return self.waiting[0] if self.waiting else None

    def ask(self, request_id: str, questions: tuple[QuestionView, ...]) -> None:
        if questions:
            self.waiting.append(Request(request_id, questions))
            if len(self.waiting) == 1:
                self._show()
        else:
            self.post_message(self.Answered(request_id, ()))

    def withdraw(self, request_id: str) -> None:
        """Also right for one that is not known or was answered already."""
        shown = self.request
        self.waiting = [request for request in self.waiting if request.request_id != request_id]
        if self.request is not shown:
            self._show()

    def withdraw_all(self) -> None:
        self.waiting.clear()
        self._show()

    @property
    def asking(self) -> bool:
        return bool(self.waiting)

    def _show(self) -> None:
        """The next question, or nothing."""
        self.start_anew()
        self._ticked.clear()
        if self.request is not None:
            self.options.digits_choose = not self.request.question.multi_select
            self._list()
            self.told_anew()

    def _list(self) -> None:
        assert self.request is not None
        question = self.request.question
        options = [
            Option(option.label, self._box(option.label) + option.label, option.description)
            for option in question.options
        ]
        self.options.change([*options, Option(OTHER, "something else …"), Option(DECLINE, "no answer", tone="quiet")])

    def _box(self, label: str) -> str:
        if self.request is None or not self.request.question.multi_select:
            return ""
        return "[x] " if label in self._ticked else "[ ] "

    # --- what it says ---------------------------------------------------------------------------------------------

    def _head(self, width: int) -> Rows:
        request = self.request
        if request is None:
            return [[]]
        question = request.question
        place = f"{len(request.answers) + 1} of {len(request.questions)}" if len(request.questions) > 1 else ""
        if self.has_class("-low") and not self.focused_here:
            place = "tab: answer"
        head: list[Span] = [(literal(question.header) or "The model asks", "strong moved")]
        return [spread(head, [(place, "quiet")], width), *paragraph(literal(question.question), width, "", 6)]

    def _hints(self, width: int) -> Rows:
        request, stop = self.request, self.hint("stop", "esc", "stop the turn")
        if request is None or not self.focused_here:
            return [hint_row((self.hint("answer", "tab", "answer"), stop), width)]
        if self.has_class("-words"):
            return [hint_row((("enter", "answer"), ("esc", "back")), width)]
        keys = [("enter", "answer")]
        keys += [("space", "tick")] if request.question.multi_select else []
        keys += [("←", "back")] if request.answers else []
        return [hint_row([*keys, self.hint("answer", "tab", "prompt"), stop], width)]

    # --- answers --------------------------------------------------------------------------------------------------

    @on(Options.Chosen)
    def _choose(self, event: Options.Chosen) -> None:
        event.stop()
        request = self.request
        if request is None:
            return
        if event.key == OTHER:
            self.ask_for_words()
        elif event.key == DECLINE:
            self._finish(())
        elif request.question.multi_select:
            self._answer(self._picked(event.key))
        else:
            self._answer((event.key,))

    def _picked(self, under_cursor: str) -> tuple[str, ...]:
        """What is ticked, in the order of the options; nothing ticked means the one under the cursor."""
        assert self.request is not None
        ticked = tuple(option.label for option in self.request.question.options if option.label in self._ticked)
        return ticked or (under_cursor,)

    @on(Input.Submitted)
    def _say(self, event: Input.Submitted) -> None:
        event.stop()
        words = event.value.strip()
        if words and self.request is not None:
            ticked = self._picked(words)
            self._answer(ticked if words in ticked else (*ticked, words))

    def _answer(self, answer: tuple[str, ...]) -> None:
        request = self.request
        assert request is not None
        request.answers.append(answer)
        if self.query_one(Input).has_focus:
            self.options.focus()
        if len(request.answers) == len(request.questions):
            self._finish(tuple(request.answers))
        else:
            self._show()

    def _finish(self, answers: Answers) -> None:
        request = self.waiting.pop(0)
        self.post_message(self.Answered(request.request_id, answers))
        self._show()

    def action_tick(self) -> None:
        request, key = self.request, self.options.options[self.options.cursor].key
        if request is not None and request.question.multi_select and key not in (OTHER, DECLINE):
            self._ticked ^= {key}
            self._list()

    def action_previous(self) -> None:
        if self.request is not None and self.request.answers:
            self.request.answers.pop()
            self._show()
