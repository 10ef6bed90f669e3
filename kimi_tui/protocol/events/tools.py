"""What tools do, and what they and the model ask the user."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.asking import ApprovalView, QuestionView
from kimi_tui.protocol.views.chat import ToolView
from kimi_tui.protocol.views.session import TodoItem


@dataclass(frozen=True, slots=True)
class ToolCallStarted(Event):
    tool: ToolView


@dataclass(frozen=True, slots=True)
class ToolOutputDelta(Event):
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallFinished(Event):
    tool: ToolView


@dataclass(frozen=True, slots=True)
class ApprovalRequested(Event):
    approval: ApprovalView


@dataclass(frozen=True, slots=True)
class ApprovalWithdrawn(Event):
    request_id: str


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    request_id: str
    questions: tuple[QuestionView, ...]


@dataclass(frozen=True, slots=True)
class QuestionWithdrawn(Event):
    request_id: str


@dataclass(frozen=True, slots=True)
class TodosChanged(Event):
    todos: tuple[TodoItem, ...]
