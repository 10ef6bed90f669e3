"""An agent in a thread of its own, so that the main thread can wait for a line, where Ctrl+C reaches it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from kimi_tui.protocol.commands import Close, Command
from kimi_tui.protocol.events import Closed, Event
from kimi_tui.protocol.ports import AgentPort, Connect


class AgentThread:
    """Commands may be handed over from any thread; events are for one reader."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._events: SimpleQueue[Event | BaseException] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._port: AgentPort | None = None
        self.on_event: Callable[[], None] = lambda: None
        """Called in the agent's thread after each event."""
        self._thread = threading.Thread(target=self._run, name="agent", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, command: Command) -> None:
        """To be called after the first event. Never blocks."""
        assert self._loop is not None and self._port is not None
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._port.submit, command)

    def next(self) -> Event:
        """The next event; waits for it. Raises whatever the agent could not be built or broke with."""
        return _told(self._events.get())

    def next_within(self, seconds: float) -> Event | None:
        """The same, but waits no longer than that; None when nothing came."""
        try:
            return _told(self._events.get(timeout=seconds))
        except Empty:
            return None

    def at_hand(self) -> Event | None:
        """The same, but does not wait."""
        try:
            return _told(self._events.get_nowait())
        except Empty:
            return None

    def has_said(self) -> bool:
        """Whether an event is at hand."""
        return not self._events.empty()

    def close(self) -> None:
        """End it; what it says until `Closed` can still be read. One that is not there yet never comes."""
        if self._port is not None:
            self.submit(Close())
        elif self._loop is not None and self._work is not None:
            self._loop.call_soon_threadsafe(self._work.cancel)

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except asyncio.CancelledError:
            self._put(Closed())
        except BaseException as fault:
            self._put(fault)

    async def _serve(self) -> None:
        self._loop, self._work = asyncio.get_running_loop(), asyncio.current_task()
        self._port = port = await self._connect()
        reading = asyncio.ensure_future(self._read(port))
        try:
            await port.run()
            await reading
        finally:
            reading.cancel()

    async def _read(self, port: AgentPort) -> None:
        async for event in port.events():
            self._put(event)

    def _put(self, event: Event | BaseException) -> None:
        self._events.put(event)
        self.on_event()


def _told(event: Event | BaseException) -> Event:
    if isinstance(event, BaseException):
        raise event
    return event
