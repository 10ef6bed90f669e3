"""Keeps the session's side files up to date without making anybody wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kimi_tui.faults import Fault
from kimi_tui.protocol.views import Draft
from kimi_tui.session import DraftFile, Session, SessionState


class Saving:
    """Writes in a worker thread what is newest then; what changes while it writes is written right after."""

    def __init__(self, write: Callable[[], None], what: str, on_fault: Callable[[str], None]) -> None:
        self._write_now, self._what, self._on_fault = write, what, on_fault
        self._dirty = False
        self._task: asyncio.Task[None] | None = None

    def save(self) -> None:
        """See to it that what is to be written now gets to the disk."""
        self._dirty = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write(), name=f"save {self._what}")

    async def flush(self) -> None:
        """Wait until everything is written."""
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        while self._dirty:
            self._dirty = False
            try:
                await asyncio.to_thread(self._write_now)
            except (OSError, Fault) as fault:
                self._on_fault(f"{self._what} could not be saved: {fault}")


class StateFile(Saving):
    """`state.json`."""

    def __init__(self, session: Session, state: SessionState, on_fault: Callable[[str], None]) -> None:
        super().__init__(lambda: session.save_state(state), "the session's state", on_fault)


class UnsentDraft(Saving):
    """What stands unsent in the prompt."""

    def __init__(self, session: Session, on_fault: Callable[[str], None]) -> None:
        self._file, self._draft = DraftFile(session), Draft()
        super().__init__(lambda: self._file.save(self._draft), "the unsent prompt", on_fault)

    def keep(self, draft: Draft) -> None:
        """This from now on."""
        if draft != self._draft:
            self._draft = draft
            self.save()

    def found(self, *, elsewhere: bool) -> Draft:
        """What was kept: with this session or, when it is new, `elsewhere` in the folder. Reads files."""
        draft = self._file.load()
        self._draft = self._file.take_abandoned() if elsewhere and not draft.text.strip() else draft
        return self._draft

    async def close(self) -> None:
        await self.flush()
        await asyncio.to_thread(self._file.close)
