"""Waiting for the screen by what it has done, never by the clock: a loaded machine only takes longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from kimi_tui.ui.app import KimiApp
from kimi_tui.ui.widgets.guarded import GRACE
from tests.ui.fakes import ScriptedAgent
from tests.ui.stillness import stillness

LONGEST = 60.0
"""Seconds after which something that should happen will not happen any more."""


class Clock:
    """The time that guarded options know: it moves only when the user takes the time to look."""

    now = 100.0

    def __call__(self) -> float:
        return self.now

    def wait(self) -> None:
        self.now += GRACE * 2


async def settled(pilot: Pilot[Any]) -> None:
    """Until every widget has done what it was told, and what followed from it."""
    await pilot.pause()
    await stillness()
    async with asyncio.timeout(LONGEST):
        while _at_work(pilot.app):
            await pilot.pause(0.005)
    await pilot.pause()
    await stillness()


async def until(pilot: Pilot[Any], holds: Callable[[], object]) -> None:
    """Until it holds, and the screen shows it."""
    async with asyncio.timeout(LONGEST):
        while not holds():
            await pilot.pause(0.01)
    await settled(pilot)


def heard(app: KimiApp, agent: ScriptedAgent) -> KimiApp:
    """The app, which from now on lets the agent know how far it has come with the events."""
    app.deliver = agent.hears(app.deliver)  # type: ignore[method-assign]
    return app


async def all_shown(app: KimiApp, agent: ScriptedAgent, pilot: Pilot[Any]) -> None:
    """Until what was pressed has reached the agent, and what it told has reached the screen."""
    await pilot.pause()
    await stillness()
    async with asyncio.timeout(LONGEST):
        await agent.heard(lambda: app._exit or not app.is_running)
    await settled(pilot)


def _at_work(app: App[Any]) -> bool:
    """Whether something is worked out beside the screen; the agent and an editor may stay for long."""
    return any(worker.is_running for worker in app.workers if worker.name != "agent" and worker.group != "editor")
