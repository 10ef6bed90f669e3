"""What the user is asked."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_tui.protocol.views.chat import DiffView


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """A question that a tool waits on."""

    request_id: str
    tool: str
    action: str
    """`run a command`, `edit parser.py` …"""
    detail: str = ""
    """The command, or the real path, in full."""
    diffs: tuple[DiffView, ...] = ()
    outside: bool = False
    """The target lies outside the allowed folders."""
    rule: str = ""
    """What «always for this session» would admit from now on; empty: every call of the tool."""
    explicit: bool = False
    """Only the user in person may allow it, this once: no rule, no earlier grant, no yolo (a write in
    plan mode, the plan itself)."""
    asker: str = ""
    """The subagent that wants it; empty for the session's own agent."""


@dataclass(frozen=True, slots=True)
class QuestionOption:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class QuestionView:
    question: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False
