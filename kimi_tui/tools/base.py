"""What a tool is, what it gets, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel

from kimi_tui.protocol.messages import ContentPart
from kimi_tui.protocol.views import ApprovalView, DiffView, Outcome, QuestionView


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told (`output`, `parts`) and what the user is shown (`brief`, `diffs`)."""

    output: str
    outcome: Outcome = "ok"
    brief: str = ""
    parts: tuple[ContentPart, ...] = ()
    """Media that go to the model beside the text."""
    diffs: tuple[DiffView, ...] = ()
    stop_turn: bool = False
    """The turn ends after this step (the user rejected without a word)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's answer to an approval. `by` is `user`, `session`, `rule`, `yolo` or `nobody`."""

    allowed: bool
    feedback: str = ""
    by: str = "user"


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool gets beside its arguments: where it is and whom it may ask."""

    id: str
    work_dir: Path
    emit: Callable[[str], None]
    """Live output for the screen; already decoded, not yet sanitised."""
    approve: Callable[[ApprovalView], Awaitable[Decision]]
    """Ask the user. Answers at once in yolo mode, by rule, or when nobody is there."""
    ask: Callable[[tuple[QuestionView, ...]], Awaitable[tuple[tuple[str, ...], ...] | None]]
    """Put questions to the user; None when they were declined or nobody is there."""
    allowed_dirs: tuple[Path, ...] = ()
    plan_file: Path | None = None
    """In plan mode: the only file that may be written. None when plan mode is off."""
    state: dict[str, Any] = field(default_factory=dict)
    """Lives as long as the session in this process: shared between the calls of one tool set."""


class Tool(Protocol):
    """A tool. Instances hold no per-call state; calls of one step may run at the same time when `read_only`."""

    name: ClassVar[str]
    description: str
    Params: type[BaseModel]
    read_only: ClassVar[bool]
    """Changes nothing: may run beside others, is allowed in plan mode, needs no snapshot."""

    def describe(self, params: BaseModel) -> tuple[str, str]:
        """Verb and subject of the row: `("Read", "parser.py")`."""

    async def __call__(self, params: BaseModel, call: Call) -> ToolResult:
        """Do it. Foreseeable faults come back as a result with outcome `error`; cancellation is let through after
        everything that was started has been ended."""
