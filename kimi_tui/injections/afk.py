"""Tells the model that nobody is there, and that somebody is back.

What it was told last is read from the history, so that it also holds for the next run of the program, and so that a
compaction or a jump that removes the word also removes the memory of having given it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from kimi_tui.injections.newest import Newest
from kimi_tui.injections.provider import DynamicInjection, DynamicInjectionProvider, StepView
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

Told = Literal["away", "back"]


class AfkInjectionProvider(DynamicInjectionProvider):
    """Once per absence; said again after a compaction and whenever the mode is switched on."""

    def __init__(self) -> None:
        self._told: Newest[Told] = Newest(_told_by)
        self._again = False

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        found = await self._told.find(history)
        away = found is not None and found[1] == "away"
        if not view.afk:
            return [DynamicInjection("afk_off", prompt("afk_off"))] if away else []
        if away and not self._again:
            return []
        self._again = False
        return [DynamicInjection("afk", prompt("afk"))]

    async def on_afk_changed(self, enabled: bool) -> None:
        self._again = enabled


def _told_by(message: Message) -> Told | None:
    if message.role != "user":
        return None
    away, back = _beginnings()
    for part in message.content:
        if isinstance(part, TextPart) and part.text.startswith("<system-reminder>"):
            if away in part.text:
                return "away"
            if back in part.text:
                return "back"
    return None


@cache
def _beginnings() -> tuple[str, str]:
    return prompt("afk").partition("\n")[0], prompt("afk_off").partition(".")[0]
