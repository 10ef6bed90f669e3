"""An agent that follows a script: what the screen sees of a real one, without a model, a disk or a clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from kimi_tui.protocol.commands import Close, Command
from kimi_tui.protocol.events import Closed, Event
from kimi_tui.protocol.ports import AgentPort

Answer = Callable[[Command], Iterable[Event]]
"""What the agent tells after a command."""


class ScriptedAgent:
    """Tells `opening`, then answers each command; `tell` says something at any time. Records what was submitted."""

    def __init__(self, opening: Iterable[Event] = (), answer: Answer | None = None) -> None:
        self.submitted: list[Command] = []
        self._answer = answer
        self._inbox: asyncio.Queue[Command] = asyncio.Queue()
        self._outbox: asyncio.Queue[Event] = asyncio.Queue()
        self.tell(*opening)

    def tell(self, *events: Event) -> None:
        for event in events:
            self._outbox.put_nowait(event)

    def submit(self, command: Command) -> None:
        self.submitted.append(command)
        self._inbox.put_nowait(command)

    async def run(self) -> None:
        while True:
            command = await self._inbox.get()
            if isinstance(command, Close):
                self.tell(Closed("kimi-tui -r 0123"))
                return
            if self._answer:
                self.tell(*self._answer(command))

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._outbox.get()
            yield event
            if isinstance(event, Closed):
                return

    async def connect(self) -> AgentPort:
        return self
