"""The agent: commands come in, events go out, one activity at a time.

What each command does stands in the modules of `dispatch.HANDLERS`; this one only knows who may run when.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from kimi_tui.agent.asides import ASIDE
from kimi_tui.agent.compaction.compacting import compact_if_asked
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.flow_activity import run_prompt
from kimi_tui.agent.opening import Opener, opened, put_away, resume_hint
from kimi_tui.agent.outbox import Outbox
from kimi_tui.agent.readiness import Readiness
from kimi_tui.agent.server_prompts import SERVER_PROMPT
from kimi_tui.agent.steering import Prompt, returned
from kimi_tui.agent.travel.pruning import look_after
from kimi_tui.context import SessionLocked
from kimi_tui.faults import Fault
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.commands import Close, Command
from kimi_tui.protocol.events import Closed, Event, Failed, Noticed
from kimi_tui.protocol.views import Draft

log = logging.getLogger(__name__)

TURN = "turn"

MOVES = ("RevertTo", "Undo", "Redo", "RestoreRotation", "ClearContext", "Compact")
"""Commands after which the model's next prompt begins in another way."""


class Agent:
    """Implements `AgentPort`. Built by `bootstrap.connect`."""

    def __init__(self, desk: Desk, opener: Opener, outbox: Outbox) -> None:
        self.desk, self.opener = desk, opener
        self.readiness = Readiness(self)
        self._outbox = outbox
        self._inbox: asyncio.Queue[Command] = asyncio.Queue()
        self._activity: asyncio.Task[None] | None = None
        self._side: set[asyncio.Task[None]] = set()
        self._closing = False

    # --- the port ---

    async def run(self) -> None:
        """Serve commands until `Close`."""
        try:
            await self.show()
            while not isinstance(command := await self._inbox.get(), Close):
                self._dispatch(command)
                await asyncio.sleep(0)  # what was started gets to its first line: there it can be cancelled
        except Exception as fault:
            log.exception("the agent broke")
            self.emit(Failed(f"{type(fault).__name__}: {fault}"))
            raise
        finally:
            await self._close()

    def submit(self, command: Command) -> None:
        self._inbox.put_nowait(command)

    def events(self) -> AsyncIterator[Event]:
        return self._outbox.events()

    # --- for the handlers ---

    def emit(self, event: Event) -> None:
        self._outbox.emit(event)

    @property
    def busy(self) -> bool:
        """Something runs that changes the context."""
        return self._activity is not None

    @property
    def in_turn(self) -> bool:
        """The activity is a turn, which takes steers."""
        return self._activity is not None and self._activity.get_name() == TURN

    async def guarded(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """An activity that breaks ends itself, not the agent."""
        try:
            await work
        except (Fault, ModelFault) as fault:
            self.emit(Noticed(f"{fault} {fault.hint}".strip(), "error"))
        except (OSError, ValueError, SessionLocked) as fault:
            self.emit(Noticed(str(fault) or type(fault).__name__, "error"))
        except Exception as fault:
            log.exception("%s broke", name)
            self.emit(Failed(f"{name} broke: {type(fault).__name__}: {fault}", "The log has the details."))

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Make this the one activity. There must be none."""
        assert self._activity is None, f"{name} while something else runs"
        self._activity = asyncio.create_task(self.guarded(work, name), name=name)
        self._activity.add_done_callback(self._ended)

    def beside(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run this beside whatever else goes on."""
        task = asyncio.create_task(self.guarded(work, name), name=name)
        self._side.add(task)
        task.add_done_callback(self._side.discard)

    def stop_beside(self, name: str) -> bool:
        """Stop what runs under this name beside the activity. False when nothing does."""
        running = [task for task in self._side if task.get_name() == name]
        for task in running:
            task.cancel()
        return bool(running)

    def go_on(self) -> None:
        """Start the next turn, if one waits and nothing stands in its way."""
        if self.busy or self._closing or self.desk.read_only:
            return
        if not self.readiness.ready:
            if self.desk.steering.waiting:
                self.readiness.start()
            return
        if compact_if_asked(self):
            return
        prompt = self.desk.steering.next_prompt()
        if prompt is not None:
            self.readiness.stop_warming()
            self.start(run_prompt(self.desk, prompt), TURN)

    def send(self, prompt: Prompt, place: int | None = None) -> None:
        """A turn with this prompt: now, or when its time has come."""
        if self.desk.read_only:
            self.emit(returned([prompt], self.desk.read_only))
            return
        self.desk.steering.queue(prompt, place)
        self.go_on()

    def interrupt(self) -> None:
        """Stop whatever runs; a second time while it is still ending changes nothing."""
        if self._activity is not None:
            if not self._activity.cancelling():
                self._activity.cancel()
        elif self.stop_beside(SERVER_PROMPT):
            return
        elif not self.readiness.ready:
            self.readiness.cancel()
        else:
            self.stop_beside(ASIDE)

    async def show(self) -> None:
        """Tell what is open now, and make its model ready."""
        for event in await opened(self.desk):
            self.emit(event)
        look_after(self)
        self.readiness.start()
        self.go_on()

    async def replace(self, desk: Desk) -> None:
        """Put another session on the desk. The old one is closed first; what stands in the prompt moves along."""
        self.desk.unsent.keep(Draft())
        await put_away(self.desk, "switch")
        self.desk = desk
        await self.show()

    # --- inside ---

    def _dispatch(self, command: Command) -> None:
        from kimi_tui.agent.dispatch import HANDLERS

        handler = HANDLERS.get(type(command))
        if handler is None:
            self.emit(Noticed(f"{type(command).__name__} is not understood", "warning"))
        else:
            handler.take(self, command)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._activity = None
        if self._closing:
            return
        look_after(self)
        self.go_on()
        if not self.busy and task.get_name() in MOVES:
            self.readiness.warm()

    async def _close(self) -> None:
        self._closing = True
        await asyncio.sleep(0)  # as in `run`: what has just been started gets to its first line
        tasks = [task for task in (self._activity, *self._side) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.readiness.close()
        hint = resume_hint(self.desk)
        await put_away(self.desk, "exit")
        await self.desk.model.close()
        self.emit(Closed(hint))
