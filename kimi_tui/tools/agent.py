"""Agent: hand a piece of work to a subagent with a memory of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import ClassVar, Literal, get_args

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.base import IN_BACKGROUND, Call, Params, ToolResult

SubagentType = Literal["coder", "explore", "plan"]
SUBAGENT_TYPES: tuple[SubagentType, ...] = get_args(SubagentType)


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
    run_in_background: bool = Field(
        default=False,
        validation_alias=IN_BACKGROUND,
        description="Let it work as a background task and go on at once; its report comes when it is done.",
    )
    resume: str | None = Field(
        default=None, description="The id of an earlier subagent that is to go on with all it remembers."
    )


Delegate = Callable[[AgentParams, Call], Awaitable[ToolResult]]
"""Runs a subagent to its end, or starts it as a background task. Cancelling a call that waits ends the subagent."""


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
        return await self._delegate(params, call)
