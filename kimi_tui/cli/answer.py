"""What print mode keeps of a turn: a fold over its events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.literal import literal
from kimi_tui.protocol.events import (
    Event,
    Failed,
    FlowEnded,
    FlowStarted,
    MessageStored,
    ModelUnavailable,
    Noticed,
    PromptReturned,
    RetryScheduled,
    SessionOpened,
    TasksChanged,
    TokensChanged,
    ToolCallFinished,
    TurnEnded,
)
from kimi_tui.protocol.views import Tokens

ENDS: dict[str, str] = {
    "interrupted": "the turn was interrupted",
    "failed": "the turn failed",
    "max_steps": "the turn was stopped: it had used up its steps. More: --max-steps N",
    "tool_call_repeat": "the turn was stopped: the model repeated the same call",
    "blocked": "the prompt was blocked by a hook",
}
"""Why a turn ended, where the agent has nothing more exact to say."""


@dataclass(slots=True)
class Answer:
    """The last thing the model said, and how the turn went."""

    text: str = ""
    reason: str = ""
    """How the turn ended; empty when it never did."""
    fault: str = "the agent ended before the turn did"
    session_id: str = ""
    path: str = ""
    model: str = ""
    steps: int = 0
    seconds: float = 0.0
    tool_calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    in_flow: bool = False
    """More turns may follow the one that has ended."""
    tasks: tuple[str, ...] = ()
    """Commands and subagents that run in the background: they end with the run."""
    flow: dict[str, Any] | None = None
    """How a flow ended, and its figures."""

    def take(self, event: Event) -> None:
        match event:
            case SessionOpened():
                self.session_id, self.path, self.model = event.session_id, event.path, event.model.name
                if event.read_only:
                    self.fault = event.read_only
            case MessageStored(entries=entries):
                said = [entry.text for entry in entries if entry.kind == "assistant" and entry.text.strip()]
                self.text = "\n\n".join(said) or self.text
            case ToolCallFinished():
                self.tool_calls += 1
            case TokensChanged(tokens=tokens):
                self.tokens = tokens
            case TasksChanged(tasks=tasks):
                running = (task for task in tasks if task.status == "running" and not task.session)
                self.tasks = tuple(task.command for task in running)
            case FlowStarted():
                self.in_flow = True
            case FlowEnded():
                self._take_flow(event)
            case PromptReturned(reason=reason) if not self.reason:
                self.fault = reason or self.fault
            case TurnEnded():
                self.reason = event.reason
                self.steps, self.seconds = self.steps + event.steps, self.seconds + event.seconds
                self.fault = "" if event.reason == "done" else sentence(event.message or ENDS[event.reason], event.hint)
            case ModelUnavailable(reason=reason, hint=hint) | Failed(message=reason, hint=hint):
                self.reason, self.fault = "failed", sentence(reason, hint)

    @property
    def over(self) -> bool:
        """Nothing more will come of the prompt."""
        return bool(self.reason) and not self.in_flow

    def _take_flow(self, event: FlowEnded) -> None:
        """A loop that used up its rounds did what it was told; every other early end is a fault."""
        self.in_flow = False
        self.flow = {"name": event.flow, "reason": event.reason, "iterations": event.iterations, "tokens": event.tokens}
        if event.reason not in ("done", "max_moves") and self.reason in ("done", ""):
            self.reason = event.reason
        self.fault = "" if event.reason == "done" else event.message

    def warning(self, event: Event) -> str:
        """What the user should see while the turn runs; empty for most events."""
        match event:
            case Noticed(text=text, severity="warning" | "error"):
                return text
            case RetryScheduled():
                return f"{event.reason}: try {event.attempt} of {event.attempts} follows in {event.wait:.0f} s"
            case SessionOpened(notices=notices):
                return "; ".join(notices)
        return ""

    def printable(self) -> str:
        return literal(self.text).rstrip("\n")

    def to_json(self) -> str:
        """One object on one line."""
        body: dict[str, Any] = {
            "result": self.text,
            "reason": self.reason or "failed",
            "error": self.fault,
            "session_id": self.session_id,
            "session": self.path,
            "model": self.model,
            "steps": self.steps,
            "tool_calls": self.tool_calls,
            "seconds": round(self.seconds, 3),
            "tokens": {"exact": self.tokens.exact, "pending": self.tokens.pending, "window": self.tokens.window},
            "cost": self.tokens.cost,
        } | ({"flow": self.flow} if self.flow else {})
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def sentence(message: str, hint: str) -> str:
    """A fault and what to do about it, as one line has them."""
    if not hint:
        return message
    return f"{message.rstrip()}{'' if message.rstrip().endswith(('.', '!', '?')) else '.'} {hint}"
