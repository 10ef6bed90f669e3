"""What the screen shows, as plain values: names and numbers, never classes, widgets or callbacks.

Every text in here is literal. It comes from users, models, tools or files and is never markup.
Times are seconds since the epoch, durations are seconds, sizes are bytes, token figures are counts.
"""

from kimi_tui.protocol.views.asking import ApprovalView, QuestionOption, QuestionView
from kimi_tui.protocol.views.beside import McpServerView, McpState, ResourceView, SubagentView, TaskStatus, TaskView
from kimi_tui.protocol.views.chat import DiffView, Entry, EntryKind, Outcome, ToolView
from kimi_tui.protocol.views.flows import FlowKind, FlowNodeView, FlowView
from kimi_tui.protocol.views.rotations import PruneStep, PruningView, RotationView
from kimi_tui.protocol.views.session import Completion, Draft, ModelView, Modes, SessionView, SlashCommand, TodoItem
from kimi_tui.protocol.views.timeline import (
    FileFate,
    FileTouched,
    RevertPreview,
    RowKind,
    SwitchView,
    SwitchWhy,
    TimelineRow,
)
from kimi_tui.protocol.views.tokens import Tokens, TokenShare

__all__ = [
    "ApprovalView",
    "Completion",
    "DiffView",
    "Draft",
    "Entry",
    "EntryKind",
    "FileFate",
    "FileTouched",
    "FlowKind",
    "FlowNodeView",
    "FlowView",
    "McpServerView",
    "McpState",
    "ModelView",
    "Modes",
    "Outcome",
    "PruneStep",
    "PruningView",
    "QuestionOption",
    "QuestionView",
    "ResourceView",
    "RevertPreview",
    "RotationView",
    "RowKind",
    "SessionView",
    "SlashCommand",
    "SubagentView",
    "SwitchView",
    "SwitchWhy",
    "TaskStatus",
    "TaskView",
    "TimelineRow",
    "TodoItem",
    "TokenShare",
    "Tokens",
    "ToolView",
]
