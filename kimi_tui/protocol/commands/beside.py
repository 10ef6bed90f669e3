"""What works beside the turn."""

from __future__ import annotations

from dataclasses import dataclass, field

from kimi_tui.protocol.commands.base import Command


@dataclass(frozen=True, slots=True)
class StopTask(Command):
    """Ends a background task, command or subagent, and all that it started; also one that a killed run left behind."""

    id: str


@dataclass(frozen=True, slots=True)
class ReadTask(Command):
    """Answered by `TaskRead`."""

    id: str


@dataclass(frozen=True, slots=True)
class ReadSubagent(Command):
    """Answered by `SubagentRead`: what the subagent of this call did. For a card that was not there to see it."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ListCommands(Command):
    """Has the skills looked at; answered by `CommandsChanged` when some came, changed or went."""


@dataclass(frozen=True, slots=True)
class ListMcp(Command):
    """Answered by `McpChanged`."""


@dataclass(frozen=True, slots=True)
class RestartMcp(Command):
    """Starts a server anew, whatever state it is in."""

    name: str


@dataclass(frozen=True, slots=True)
class SignInMcp(Command):
    """Has the user sign in to a server with a browser; `McpChanged` tells the address. Begun again, it starts over."""

    name: str


@dataclass(frozen=True, slots=True)
class AnswerSignInMcp(Command):
    """Where the browser ended up, for a browser on another machine that cannot come back by itself."""

    name: str
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignOutMcp(Command):
    """Stops a sign-in that is under way, and forgets the one that is kept."""

    name: str
