"""Tells the model that nobody is there, and that somebody is back.

What it was told last is read from the history, so that it also holds for the next run of the program, and so that a
compaction or a jump that removes the word also removes the memory of having given it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from typing import Literal

from kimi_tui.injections.provider import DynamicInjection, DynamicInjectionProvider, StepView
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

Told = Literal["away", "back", ""]

AT_ONCE = 100
"""Messages that are looked through on the spot; more of them in a worker."""


class AfkInjectionProvider(DynamicInjectionProvider):
    """Once per absence; said again after a compaction and whenever the mode is switched on."""

    def __init__(self) -> None:
        self._told: Told = ""
        self._until = 0
        """How many messages have been looked through, and which was the last of them."""
        self._last: Message | None = None
        self._again = False

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        told = await self._told_last(history)
        if not view.afk:
            return [DynamicInjection("afk_off", prompt("afk_off"))] if told == "away" else []
        if told == "away" and not self._again:
            return []
        self._again = False
        return [DynamicInjection("afk", prompt("afk"))]

    async def on_afk_changed(self, enabled: bool) -> None:
        self._again = enabled

    async def _told_last(self, history: Sequence[Message]) -> Told:
        """Only looks at what is new, unless time was moved."""
        known = self._until if 0 < self._until <= len(history) and history[self._until - 1] is self._last else 0
        if len(history) - known <= AT_ONCE:
            found = told_last(history, known)
        else:
            found = await asyncio.to_thread(told_last, history, known)
        self._told = found or (self._told if known else "")
        self._until, self._last = len(history), history[-1] if history else None
        return self._told


def told_last(history: Sequence[Message], start: int = 0) -> Told:
    """What the model was told last from message `start` on; empty when nothing."""
    for index in range(len(history) - 1, start - 1, -1):
        message = history[index]
        if message.role == "user" and (found := _told_by(message)):
            return found
    return ""


def _told_by(message: Message) -> Told:
    away, back = _beginnings()
    for part in message.content:
        if isinstance(part, TextPart) and part.text.startswith("<system-reminder>"):
            if away in part.text:
                return "away"
            if back in part.text:
                return "back"
    return ""


@cache
def _beginnings() -> tuple[str, str]:
    return prompt("afk").partition("\n")[0], prompt("afk_off").partition(".")[0]
