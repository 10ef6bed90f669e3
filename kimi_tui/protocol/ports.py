"""All that the screen knows of an agent, and all that print mode knows of it too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from kimi_tui.protocol.commands import Command
from kimi_tui.protocol.events import Event


class AgentPort(Protocol):
    """Commands go down, events go up, and nothing else passes."""

    async def run(self) -> None:
        """Serve commands until `Close`. The first event is `SessionOpened`, the last `Closed`."""

    def submit(self, command: Command) -> None:
        """Hand a command over. Never blocks, never raises, may be called before `run`."""

    def events(self) -> AsyncIterator[Event]:
        """Everything that happens, in order, to one reader; ends after `Closed`."""


Connect = Callable[[], Awaitable[AgentPort]]
"""Builds the agent. Called after the first frame, since it loads what the screen does not need to paint."""
