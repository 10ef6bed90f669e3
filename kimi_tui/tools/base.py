"""What a tool is, what it gets, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import AliasChoices, BaseModel, ConfigDict

from kimi_tui.protocol.messages import ContentPart
from kimi_tui.protocol.views import ApprovalView, DiffView, Outcome, QuestionView


class Params(BaseModel):
    """Arguments of a tool. Unknown keys are ignored, aliases and field names are both understood."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


IN_BACKGROUND = AliasChoices("run_in_background", "background")
"""What models call it; the first is what they are told."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told (`message`, `output`, `parts`) and what the user is shown (`brief`, `output`, `diffs`)."""

    output: str = ""
    outcome: Outcome = "ok"
    message: str = ""
    """One or two sentences about the output, set apart from it; for any outcome but `ok` what went wrong."""
    brief: str = ""
    """A few words for the row: `214 lines`, `exit 1`."""
    parts: tuple[ContentPart, ...] = ()
    """Media that go to the model beside the text."""
    diffs: tuple[DiffView, ...] = ()
    stop_turn: bool = False
    """The turn ends after this step (the user rejected without a word)."""


def failed(message: str, *, output: str = "", brief: str = "") -> ToolResult:
    """A foreseeable fault, told to the model in `message`."""
    return ToolResult(output, "error", message, brief or "failed")


class CallInterrupted(asyncio.CancelledError):
    """A tool that was cancelled may raise this to hand over what it had until then."""

    def __init__(self, output: str = "") -> None:
        super().__init__()
        self.output = output


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's answer to an approval. `by` is `user`, `session`, `rule`, `yolo` or `nobody`."""

    allowed: bool
    feedback: str = ""
    by: str = "user"


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool gets beside its arguments: where it is and whom it may ask. Made anew for every call."""

    id: str
    work_dir: Path
    emit: Callable[[str], None]
    """Live output for the screen; already decoded, not yet sanitised."""
    approve: Callable[[ApprovalView], Awaitable[Decision]]
    """Ask the user. Answers at once in yolo mode, by rule, or when nobody is there."""
    ask: Callable[[tuple[QuestionView, ...]], Awaitable[tuple[tuple[str, ...], ...] | None]]
    """Put questions to the user; empty when they were declined, None when nobody is there."""
    allowed_dirs: tuple[Path, ...] = ()
    plan_file: Path | None = None
    """In plan mode: the only file that may be written. None when plan mode is off."""
    output_dir: Path | None = None
    """A folder of the session's for outputs too long for the model; None: they are only cut."""
    state: dict[str, Any] = field(default_factory=dict)
    """Lives as long as the session in this process: shared between the calls of one tool set."""


class Tool(Protocol):
    """A tool. Instances hold no per-call state; calls of one step may run at the same time when `read_only`, or when
    the class says `parallel = True`."""

    name: ClassVar[str]
    read_only: ClassVar[bool]
    """Changes nothing: may run beside others, needs no snapshot."""
    plan_safe: ClassVar[bool]
    """May be called in plan mode, because it changes nothing there or checks `Call.plan_file` itself."""

    @property
    def Params(self) -> type[BaseModel]:
        """The model of its arguments."""

    @property
    def description(self) -> str:
        """What the model reads about it."""

    def describe(self, params: Any) -> tuple[str, str]:
        """Verb and subject of the row: `("Read", "parser.py")`. `params` is an instance of `Params`."""

    async def __call__(self, params: Any, call: Call) -> ToolResult:
        """Do it. Foreseeable faults come back as a result with outcome `error`; cancellation is let through after
        everything that was started has been ended."""
