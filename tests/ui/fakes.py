"""An agent that follows a script: what the screen sees of a real one, without a model, a disk or a clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from kimi_tui.protocol.commands import Close, Command, ListCommands, LoadImages
from kimi_tui.protocol.events import Closed, Event
from kimi_tui.protocol.ports import AgentPort

Answer = Callable[[Command], Iterable[Event]]
"""What the agent tells after a command."""


@dataclass(frozen=True, slots=True)
class Heard(Event):
    """Means nothing to the screen; when it is delivered, so is all that was told before."""

    number: int


class ScriptedAgent:
    """Tells `opening`, then answers each command; `tell` says something at any time. Records what was submitted."""

    def __init__(self, opening: Iterable[Event] = (), answer: Answer | None = None) -> None:
        self.submitted: list[Command] = []
        self.looked_at: list[Command] = []
        """What was asked for because it came into sight, whatever the user did."""
        self._answer = answer
        self._inbox: asyncio.Queue[Command] = asyncio.Queue()
        self._outbox: asyncio.Queue[Event] = asyncio.Queue()
        self._asked = self._heard = 0
        self.tell(*opening)

    def tell(self, *events: Event) -> None:
        for event in events:
            self._outbox.put_nowait(event)

    def submit(self, command: Command) -> None:
        (self.looked_at if isinstance(command, LoadImages | ListCommands) else self.submitted).append(command)
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

    def hears(self, deliver: Callable[[Sequence[Event]], None]) -> Callable[[Sequence[Event]], None]:
        """The screen's way to take events, which from now on tells us how far it has come."""

        def told(batch: Sequence[Event]) -> None:
            deliver(batch)
            self._heard = max([self._heard, *(event.number for event in batch if isinstance(event, Heard))])

        return told

    async def heard(self, gone: Callable[[], bool]) -> None:
        """Until all that was submitted is answered and all that was told is on the screen, or the screen is gone."""
        while not self._inbox.empty() and not gone():
            await asyncio.sleep(0.002)
        self._asked += 1
        asked = self._asked
        self.tell(Heard(asked))
        while self._heard < asked and not gone():
            await asyncio.sleep(0.002)

    async def connect(self) -> AgentPort:
        return self
