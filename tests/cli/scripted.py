"""An agent that plays a list of events, for print mode."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from kimi_tui.protocol.commands import Close, Command, Interrupt, RunSlash, SendPrompt
from kimi_tui.protocol.events import Closed, Event, MessageStored, SessionOpened, TextDelta, TurnEnded, TurnStarted
from kimi_tui.protocol.views import Entry, ModelView, Modes, SlashCommand

COMMANDS = (SlashCommand("ralph", turns=True), SlashCommand("flow:release", turns=True), SlashCommand("stats"))
OPENED = SessionOpened(
    "20260101-000000-abcdef", "/data/s", "/work", "", ModelView("scripted"), Modes(), commands=COMMANDS
)
STARTED = TurnStarted(Entry("user", "hi", turn=True), 0)


def answered(text: str) -> list[Event]:
    """A turn that says one thing."""
    stored = MessageStored(1, (Entry("assistant", text),))
    return [STARTED, TextDelta(text), stored, TurnEnded("done", steps=1, seconds=0.5)]


class ScriptedAgent:
    """Opens, waits for a prompt, plays `turn`; then serves until `Close`. With `hangs` the turn waits to be stopped."""

    def __init__(self, turn: Sequence[Event], *, hangs: bool = False, breaks: Exception | None = None) -> None:
        self.turn, self.hangs, self.breaks = turn, hangs, breaks
        self.commands: list[Command] = []
        self._inbox: asyncio.Queue[Command] = asyncio.Queue()
        self._outbox: asyncio.Queue[Event] = asyncio.Queue()

    def submit(self, command: Command) -> None:
        self.commands.append(command)
        self._inbox.put_nowait(command)

    async def run(self) -> None:
        self._outbox.put_nowait(OPENED)
        while not isinstance(command := await self._inbox.get(), Close):
            if isinstance(command, SendPrompt | RunSlash):
                self._play()
            if isinstance(command, Interrupt) and self.hangs:
                self._outbox.put_nowait(TurnEnded("interrupted"))
            if self.breaks:
                raise self.breaks
        self._outbox.put_nowait(Closed())

    def _play(self) -> None:
        for event in self.turn:
            self._outbox.put_nowait(event)

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._outbox.get()
            yield event
            if isinstance(event, Closed):
                return
