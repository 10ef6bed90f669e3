"""What works beside the turn: subagents, background tasks, servers of tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.protocol.views.tokens import Tokens


@dataclass(frozen=True, slots=True)
class SubagentView:
    """An agent that a tool call started, as its card shows it."""

    call_id: str
    """The call of `Agent` that it works for."""
    id: str
    type: str
    """`coder`, `explore` or `plan`."""
    description: str
    state: Literal["running", "done", "failed", "interrupted"] = "running"
    doing: str = ""
    """What it is busy with, in a few words."""
    steps: int = 0
    tool_calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    """Its own gauge."""


TaskStatus = Literal["running", "done", "failed", "stopped", "lost"]
"""`done` is exit code 0, `failed` any other end of its own or a time-out, `stopped` was ended on request, `lost` ended
while nobody watched and left no word of how."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A command in the background, or a subagent."""

    id: str
    command: str
    """Of a subagent: its type, its id and what it is to do."""
    status: TaskStatus
    description: str = ""
    pid: int | None = None
    """Leader of its process group."""
    started_at: float = 0.0
    ended_at: float | None = None
    exit_code: int | None = None
    """Negative for a signal; None while it runs and when it is not known."""
    reason: str = ""
    """Why it ended, where the exit code does not say so: `timed out after 60 s`, what it was stopped for."""
    output_file: str = ""
    output_size: int = 0
    orphan: bool = False
    """Started by a run of the program that was killed."""
    session: str = ""
    """Folder of the session that started it, when that is another one than the open one."""
    agent: SubagentView | None = None
    """The subagent that it is, as it stands; None for a command."""


McpState = Literal["starting", "ready", "failed", "stopped", "locked"]
"""`failed` is tried again after a while; `stopped` stays so until it is asked for, `locked` until the user signs in."""


@dataclass(frozen=True, slots=True)
class McpServerView:
    """A server of tools, as `/mcp` lists it. Nothing in here is secret."""

    name: str
    state: McpState
    transport: Literal["stdio", "http", "sse"]
    target: str = ""
    """The program, or the address without what could be a key."""
    tools: tuple[str, ...] = ()
    """As the model knows them: `mcp__<server>__<tool>`."""
    originals: tuple[str, ...] = ()
    """As the server calls them, in the same order."""
    prompts: tuple[str, ...] = ()
    """As the server calls them; the user's commands are `/mcp:<server>:<prompt>`."""
    resources: bool = False
    """It has something to be read."""
    error: str = ""
    """Of the last failure; kept until the next success."""
    retry_at: float | None = None
    """When it is started again by itself."""
    said: str = ""
    """The newest lines that a server over stdio wrote to its standard error, without secrets."""
    sign_in_at: str = ""
    """The address where the user signs in, while that is waited for."""
    signed_in: bool = False
    """A sign-in is kept for it."""


@dataclass(frozen=True, slots=True)
class ResourceView:
    """Something of a server's that can be sent along with a prompt, as `@server:uri`."""

    server: str
    uri: str
    name: str = ""
