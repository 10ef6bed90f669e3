"""Think: a place for the model to write a thought down."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult


class ThinkParams(Params):
    thought: str = Field(description="The thought.")


class Think:
    name: ClassVar[str] = "Think"
    Params: ClassVar[type[Params]] = ThinkParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/think")

    def describe(self, params: ThinkParams) -> tuple[str, str]:
        return "Think", params.thought

    async def __call__(self, params: ThinkParams, call: Call) -> ToolResult:
        return ToolResult(message="Noted.")
