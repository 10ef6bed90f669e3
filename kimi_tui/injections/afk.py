"""Tells the model once that nobody is there, and once that somebody is back."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.injections.provider import DynamicInjection, DynamicInjectionProvider, StepView
from kimi_tui.protocol.messages import Message
from kimi_tui.resources import prompt


class AfkInjectionProvider(DynamicInjectionProvider):
    """Once per absence; said again after a compaction and after every change of the mode."""

    def __init__(self) -> None:
        self._said = False
        self._returned = False

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        if not view.afk:
            return self._welcome()
        if self._said:
            return []
        self._said, self._returned = True, False
        return [DynamicInjection("afk", prompt("afk"))]

    async def on_context_compacted(self) -> None:
        self._said = False

    async def on_afk_changed(self, enabled: bool) -> None:
        self._returned = self._said and not enabled
        self._said = False

    def _welcome(self) -> list[DynamicInjection]:
        returned, self._returned = self._returned, False
        return [DynamicInjection("afk_off", prompt("afk_off"))] if returned else []
