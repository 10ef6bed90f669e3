"""Making the model ready: fetch what is missing, start it, send the prefix ahead. Prompts wait meanwhile."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Literal

from kimi_tui.agent.landing import settled
from kimi_tui.llm.model import ChatModel, ModelFault
from kimi_tui.protocol.events import ModelProgressed, ModelReady, ModelUnavailable

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

log = logging.getLogger(__name__)

Phase = Literal["fetching", "checking", "starting", "warming"]

_INTERVAL = 0.1
"""Seconds between two reports of the same phase."""


class Readiness:
    """Whether the model of the desk can be asked, and the work of making it so."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._task: asyncio.Task[None] | None = None
        self.ready = False
        self._reported: tuple[str, float] = ("", 0.0)
        self._begun = 0.0

    def start(self) -> None:
        """Begin, unless it is ready or under way."""
        if not self.ready and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._prepare(self._agent.desk.model), name="make the model ready")

    def cancel(self) -> None:
        """The user does not want to wait any longer."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            name = self._agent.desk.model.view.name
            self._unavailable(name, "making the model ready was stopped", "The next prompt tries again.")

    def warm(self) -> None:
        """Send the prefix ahead again, after it has changed."""
        if self.ready and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._warm(self._agent.desk.model), name="warm the model")

    def stop_warming(self) -> None:
        """A real request takes the place of the one that was sent ahead."""
        if self.ready and self._task is not None:
            self._task.cancel()

    async def reset(self) -> None:
        """Another model: start from nothing."""
        await self.close()
        self.ready = False

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await settled(self._task)
            self._task = None

    async def _prepare(self, model: ChatModel) -> None:
        self._begun = time.monotonic()
        name = model.view.name
        try:
            await model.prepare(self._report)
        except ModelFault as fault:
            self._unavailable(name, str(fault), fault.hint)
            return
        await self._connect()
        self.ready = True
        self._agent.emit(ModelReady(model.view))
        self._agent.desk.tell_tokens()
        self._agent.go_on()
        if not self._agent.busy:
            await self._warm(model)

    async def _connect(self) -> None:
        """Let the servers of tools start now that the machine is free; who has no screen waits for them."""
        desk = self._agent.desk
        if desk.servers is not None:
            desk.servers.start()
            if desk.headless:
                await desk.servers.settled()

    async def _warm(self, model: ChatModel) -> None:
        try:
            await model.warm(self._agent.desk.request(), self._report)
        except ModelFault as fault:
            log.info("the prefix could not be sent ahead: %s", fault)
        finally:
            if self._reported[0] == "warming":
                self._reported = ("", 0.0)
                self._agent.emit(ModelReady(model.view))  # takes the progress off the screen

    def _unavailable(self, name: str, reason: str, hint: str) -> None:
        self._agent.desk.steering.give_back(reason)
        self._agent.emit(ModelUnavailable(name, reason, hint))

    def _report(self, phase: Phase, done: int, total: int) -> None:
        now = time.monotonic()
        if self._reported[0] == phase and done < total and now - self._reported[1] < _INTERVAL:
            return
        self._reported = (phase, now)
        name = self._agent.desk.model.view.name
        self._agent.emit(ModelProgressed(name, phase, done, total, now - self._begun))
