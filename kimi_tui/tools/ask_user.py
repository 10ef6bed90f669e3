"""AskUserQuestion: let the user choose."""

from __future__ import annotations

import json
from functools import cached_property
from typing import ClassVar

from pydantic import BaseModel, Field

from kimi_tui.protocol.views import QuestionOption, QuestionView
from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult

UNANSWERED = (
    "There is no answer: the user is away or would rather not choose. Take the way that seems best to you, say which "
    "assumption you made, and do not ask the same again."
)


class Option(BaseModel):
    label: str = Field(min_length=1, description="A few words.")
    description: str = Field(default="", description="What choosing it means.")


class Question(BaseModel):
    question: str = Field(min_length=1, description="The whole question.")
    header: str = Field(default="", description="One or two words over it.")
    options: list[Option] = Field(
        min_length=2, max_length=6, description="Answers to choose from; the user may also write another one."
    )
    multi_select: bool = Field(default=False, description="Several may be chosen.")


class AskUserQuestionParams(Params):
    questions: list[Question] = Field(min_length=1, max_length=4, description="One to four questions.")


class AskUserQuestion:
    name: ClassVar[str] = "AskUserQuestion"
    Params: ClassVar[type[Params]] = AskUserQuestionParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/ask_user_question")

    def describe(self, params: AskUserQuestionParams) -> tuple[str, str]:
        return "Ask", params.questions[0].question

    async def __call__(self, params: AskUserQuestionParams, call: Call) -> ToolResult:
        answers = await call.ask(tuple(_view(question) for question in params.questions))
        if not answers:
            return ToolResult(message=UNANSWERED, brief="no answer")
        pairs = zip(params.questions, answers, strict=False)
        told = {question.question: ", ".join(chosen) or "(no answer)" for question, chosen in pairs}
        return ToolResult(json.dumps({"answers": told}, ensure_ascii=False), brief="; ".join(told.values()))


def _view(question: Question) -> QuestionView:
    options = tuple(QuestionOption(option.label, option.description) for option in question.options)
    return QuestionView(question.question, question.header, options, question.multi_select)
