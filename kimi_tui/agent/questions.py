"""Questions that tools put to the user: asked up, answered down, withdrawn when the turn is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeVar

from kimi_tui.protocol.commands import AnswerApproval, AnswerQuestion
from kimi_tui.protocol.events import ApprovalRequested, ApprovalWithdrawn, Event, QuestionAsked, QuestionWithdrawn
from kimi_tui.protocol.views import ApprovalView, QuestionView

T = TypeVar("T")

Answers = tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Questions:
    """Those that wait for an answer, by id."""

    emit: Callable[[Event], None]
    approvals: dict[str, asyncio.Future[AnswerApproval]] = field(default_factory=dict)
    questions: dict[str, asyncio.Future[Answers]] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    async def approval(self, view: ApprovalView) -> AnswerApproval:
        """Ask for an approval and wait for the answer."""
        view = replace(view, request_id=view.request_id or f"approval-{next(self._numbers)}")
        answer: asyncio.Future[AnswerApproval] = asyncio.get_running_loop().create_future()
        self.approvals[view.request_id] = answer
        self.emit(ApprovalRequested(view))
        try:
            return await answer
        finally:
            del self.approvals[view.request_id]
            if not answer.done() or answer.cancelled():
                self.emit(ApprovalWithdrawn(view.request_id))

    async def ask(self, questions: tuple[QuestionView, ...]) -> Answers:
        """Put questions and wait; empty when they were declined."""
        request_id = f"question-{next(self._numbers)}"
        answer: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        self.questions[request_id] = answer
        self.emit(QuestionAsked(request_id, questions))
        try:
            return await answer
        finally:
            del self.questions[request_id]
            if not answer.done() or answer.cancelled():
                self.emit(QuestionWithdrawn(request_id))

    def answer_approval(self, command: AnswerApproval) -> bool:
        """Hand an answer over; False when nothing waits for it any more."""
        return _answer(self.approvals.get(command.request_id), command)

    def answer_question(self, command: AnswerQuestion) -> bool:
        return _answer(self.questions.get(command.request_id), command.answers)


def _answer(waiting: asyncio.Future[T] | None, answer: T) -> bool:
    if waiting is None or waiting.done():
        return False
    waiting.set_result(answer)
    return True
