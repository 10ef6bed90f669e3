"""Agent: hand a piece of work to a subagent with a memory of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import ClassVar, Literal, get_args

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult, failed

SubagentType = Literal["coder", "explore", "plan"]
SUBAGENT_TYPES: tuple[SubagentType, ...] = get_args(SubagentType)

NO_BACKGROUND = (
    "Subagents do not run in the background here, and this one was not started. Call Agent again without "
    "run_in_background: several calls in one step run side by side."
)


class AgentParams(Params):
    description: str = Field(min_length=1, description="Three to five words that name the task, for the user.")
    prompt: str = Field(
        min_length=1,
        description="The whole task: the subagent knows nothing of this conversation but what stands here.",
    )
    subagent_type: SubagentType = Field(
        default="coder",
        description="coder: reads, changes and runs. explore: finds things out, changes nothing. plan: works out a "
        "way to do something, changes nothing.",
    )
    run_in_background: bool = Field(default=False, description="Not available: leave it false.")
    resume: str | None = Field(
        default=None, description="The id of an earlier subagent that is to go on with all it remembers."
    )


Delegate = Callable[[AgentParams, Call], Awaitable[ToolResult]]
"""Runs a subagent to its end. Cancelling it ends the subagent."""


class Agent:
    name: ClassVar[str] = "Agent"
    Params: ClassVar[type[Params]] = AgentParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True
    parallel: ClassVar[bool] = True
    """Calls of one step run at the same time, though each may change something."""

    def __init__(self, delegate: Delegate) -> None:
        self._delegate = delegate

    @cached_property
    def description(self) -> str:
        return prompt("tools/agent")

    def describe(self, params: AgentParams) -> tuple[str, str]:
        return params.subagent_type.capitalize(), params.description

    async def __call__(self, params: AgentParams, call: Call) -> ToolResult:
        if params.run_in_background:
            return failed(NO_BACKGROUND, brief="not available")
        return await self._delegate(params, call)
