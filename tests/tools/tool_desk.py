"""What a call needs, in a folder of the test's own, with a user who answers as told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.protocol.messages import FunctionBody, ToolCall
from kimi_tui.protocol.views import ApprovalView, QuestionView
from kimi_tui.tools.base import Call, Decision, Tool, ToolResult


@dataclass
class Desk:
    """Where the tools work in a test, and the user who sits there."""

    work_dir: Path
    decision: Decision = field(default_factory=lambda: Decision(True))
    answers: tuple[tuple[str, ...], ...] | None = None
    plan_file: Path | None = None
    output_dir: Path | None = None
    allowed_dirs: tuple[Path, ...] = ()
    approvals: list[ApprovalView] = field(default_factory=list)
    questions: list[QuestionView] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    on_approval: Callable[[ApprovalView], None] = lambda view: None

    async def approve(self, view: ApprovalView) -> Decision:
        self.approvals.append(view)
        self.on_approval(view)
        return self.decision

    async def ask(self, questions: tuple[QuestionView, ...]) -> tuple[tuple[str, ...], ...] | None:
        self.questions.extend(questions)
        return self.answers

    def call(self, call_id: str = "c1", emit: Callable[[str], None] | None = None) -> Call:
        return Call(
            call_id,
            self.work_dir,
            emit or self.live.append,
            self.approve,
            self.ask,
            allowed_dirs=self.allowed_dirs,
            plan_file=self.plan_file,
            output_dir=self.output_dir,
        )

    async def run(self, tool: Tool, **arguments: Any) -> ToolResult:
        return await tool(tool.Params.model_validate(arguments), self.call())


def tool_call(name: str, arguments: Any = None, call_id: str = "c1") -> ToolCall:
    """A call as the model sends it; `arguments` that are not text are written as JSON."""
    text = arguments if isinstance(arguments, str) or arguments is None else json.dumps(arguments)
    return ToolCall(id=call_id, function=FunctionBody(name=name, arguments=text))
