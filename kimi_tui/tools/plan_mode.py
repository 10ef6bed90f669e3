"""EnterPlanMode and ExitPlanMode: first the plan, then the work, with the user's word between them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from kimi_tui.protocol.views import ApprovalView, QuestionOption, QuestionView
from kimi_tui.resources import prompt
from kimi_tui.spelling import spell
from kimi_tui.tools.approval import refusal
from kimi_tui.tools.base import Call, Params, ToolResult, failed

Enter = Callable[[], Awaitable[Path]]
"""Turns plan mode on; gives the plan file."""
Leave = Callable[[], Awaitable[None]]

KEEP_PLANNING = "Keep planning"


class EnterPlanModeParams(Params):
    pass


class EnterPlanMode:
    name: ClassVar[str] = "EnterPlanMode"
    Params: ClassVar[type[Params]] = EnterPlanModeParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    def __init__(self, enter: Enter) -> None:
        self._enter = enter

    @cached_property
    def description(self) -> str:
        return prompt("tools/enter_plan_mode")

    def describe(self, params: EnterPlanModeParams) -> tuple[str, str]:
        return "Plan", "enter plan mode"

    async def __call__(self, params: EnterPlanModeParams, call: Call) -> ToolResult:
        if call.plan_file is not None:
            return failed(f"Plan mode is on already; the plan goes into {spell(call.plan_file)}.")
        decision = await call.approve(ApprovalView(call.id, self.name, "enter plan mode", "Look and plan first."))
        if not decision.allowed and decision.by != "nobody":
            return refusal(decision)
        plan = await self._enter()
        return ToolResult(
            message="Plan mode is on. Look at what you need, change nothing, and write the plan with WriteFile or "
            f"StrReplaceFile into {spell(plan)}. When it is complete, call ExitPlanMode.",
            brief="plan mode on",
        )


class Approach(BaseModel):
    label: str = Field(min_length=1, description="A few words.")
    description: str = Field(default="", description="What is good and what is bad about it.")


class ExitPlanModeParams(Params):
    options: list[Approach] | None = Field(
        default=None, max_length=4, description="When the plan holds several ways, those the user shall choose from."
    )

    @field_validator("options")
    @classmethod
    def _distinct(cls, value: Any) -> Any:
        labels = [option.label for option in value or ()]
        if len(set(labels)) < len(labels) or KEEP_PLANNING in labels:
            raise ValueError(f"labels must differ from each other and from {KEEP_PLANNING!r}")
        return value


class ExitPlanMode:
    name: ClassVar[str] = "ExitPlanMode"
    Params: ClassVar[type[Params]] = ExitPlanModeParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    def __init__(self, leave: Leave) -> None:
        self._leave = leave

    @cached_property
    def description(self) -> str:
        return prompt("tools/exit_plan_mode")

    def describe(self, params: ExitPlanModeParams) -> tuple[str, str]:
        return "Plan", "ready"

    async def __call__(self, params: ExitPlanModeParams, call: Call) -> ToolResult:
        if call.plan_file is None:
            return failed("Plan mode is not on; there is nothing to leave.")
        plan = await asyncio.to_thread(_text, call.plan_file)
        if not plan.strip():
            return failed(f"There is no plan yet. Write it into {spell(call.plan_file)} first.")
        options = params.options or []
        if len(options) > 1:
            return await self._choose(options, plan, call)
        decision = await call.approve(
            ApprovalView(call.id, self.name, "leave plan mode and carry out this plan", plan, explicit=True)
        )
        if not decision.allowed and decision.by != "nobody":
            return _not_yet(decision.feedback)
        return await self._go(plan, "")

    async def _choose(self, options: list[Approach], plan: str, call: Call) -> ToolResult:
        """The question shows the ways, the card the plan; an answer in other words is what the user wants changed."""
        call.emit(plan)
        labels = [option.label for option in options]
        shown = [QuestionOption(option.label, option.description) for option in options]
        shown.append(QuestionOption(KEEP_PLANNING, "Stay in plan mode."))
        answers = await call.ask((QuestionView("Which way shall be taken?", "Plan", tuple(shown)),))
        chosen = answers[0][0] if answers and answers[0] else ""
        if answers is None:
            return await self._go(plan, "Nobody chose; take the way you would recommend.")
        if chosen in labels:
            return await self._go(plan, f"The user chose: {chosen}.")
        return _not_yet("" if chosen == KEEP_PLANNING else chosen)

    async def _go(self, plan: str, chosen: str) -> ToolResult:
        await self._leave()
        said = f"The plan is approved and plan mode is off. {chosen}".strip()
        return ToolResult(plan, message=f"{said} Carry it out; it says:", brief="approved")


def _not_yet(feedback: str) -> ToolResult:
    message = "The user wants to go on planning; plan mode stays on."
    if feedback.strip():
        return ToolResult(outcome="rejected", message=f"{message} The user says: {feedback.strip()}", brief="revise")
    return ToolResult(
        outcome="rejected", message=f"{message} Wait for what the user says.", brief="not yet", stop_turn=True
    )


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ""
