"""Keeps `state.json` up to date without making anybody wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kimi_tui.faults import Fault
from kimi_tui.session import Session, SessionState


class StateFile:
    """Writes the newest state in a worker thread; what changes while it writes is written right after."""

    def __init__(self, session: Session, state: SessionState, on_fault: Callable[[str], None]) -> None:
        self._session, self._state, self._on_fault = session, state, on_fault
        self._dirty = False
        self._task: asyncio.Task[None] | None = None

    def save(self) -> None:
        """See to it that the state as it is now gets to the disk."""
        self._dirty = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write(), name="save the session's state")

    async def flush(self) -> None:
        """Wait until everything is written."""
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        while self._dirty:
            self._dirty = False
            try:
                await asyncio.to_thread(self._session.save_state, self._state)
            except (OSError, Fault) as fault:
                self._on_fault(f"the session's state could not be saved: {fault}")
