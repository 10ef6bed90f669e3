"""What goes on beside the turn: subagents, background tasks, questions asked aside, servers of tools."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.beside import McpServerView, ResourceView, SubagentView, TaskView
from kimi_tui.protocol.views.chat import Entry


@dataclass(frozen=True, slots=True)
class SubagentChanged(Event):
    """A subagent was started, did something, or has ended. Its steps come as `ToolOutputDelta` of its call; those of
    one in the background go on after the call has ended."""

    subagent: SubagentView


@dataclass(frozen=True, slots=True)
class SubagentRead(Event):
    """What a subagent of an earlier time did for a call, read from its own context file."""

    call_id: str
    subagent: SubagentView | None
    """None when there is no such subagent any more."""
    steps: str = ""
    """The newest of them, a line each, as they came as `ToolOutputDelta`."""


@dataclass(frozen=True, slots=True)
class AsideStarted(Event):
    """A question is asked beside the conversation; it leaves no trace in it."""

    question: str


@dataclass(frozen=True, slots=True)
class AsideEnded(Event):
    """The answer, or why there is none. Neither is stored."""

    question: str
    answer: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TasksChanged(Event):
    """A background task was started, found again, or has ended. All that are known, oldest first."""

    tasks: tuple[TaskView, ...]


@dataclass(frozen=True, slots=True)
class TaskRead(Event):
    task: TaskView
    output: str
    """The newest part of it; `task.output_file` has more."""
    entries: tuple[Entry, ...] = ()
    """Of a subagent: the newest part of its conversation."""


@dataclass(frozen=True, slots=True)
class McpChanged(Event):
    """All servers that are configured, as they stand."""

    servers: tuple[McpServerView, ...]


@dataclass(frozen=True, slots=True)
class ResourcesChanged(Event):
    """What the servers that are ready have for reading."""

    resources: tuple[ResourceView, ...]


@dataclass(frozen=True, slots=True)
class ServerAwaited(Event):
    """A command waits for this server, until it is ready or Esc is pressed; empty: no more."""

    server: str
