"""A summary that waits for the user's word before it replaces anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kimi_tui.protocol.commands import AnswerCompaction
from kimi_tui.protocol.events import CompactionProposed, Event, Noticed

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent


class Declined(Exception):
    """The user does not want this compaction."""


@dataclass(slots=True)
class Review:
    """The one proposal that waits, if any."""

    _waiting: asyncio.Future[AnswerCompaction] | None = None

    async def ask(self, proposal: CompactionProposed, emit: Callable[[Event], None]) -> AnswerCompaction:
        """Show it and wait for the answer, however long that takes."""
        self._waiting = asyncio.get_running_loop().create_future()
        emit(proposal)
        try:
            return await self._waiting
        finally:
            self._waiting = None

    def answer(self, command: AnswerCompaction) -> bool:
        """Hand an answer over; False when nothing waits for it."""
        if self._waiting is None or self._waiting.done():
            return False
        self._waiting.set_result(command)
        return True


def answer_compaction(agent: Agent, command: AnswerCompaction) -> None:
    if not agent.desk.review.answer(command):
        agent.emit(Noticed("no summary waits for an answer any more", "warning"))
