"""What an injection is, who provides one, and how all of them are asked without one breaking the rest."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.protocol.messages import Message

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepView:
    """What a provider may know of the step that is about to call the model."""

    plan: bool = False
    plan_file: Path | None = None
    plan_activated: bool = False
    """The user has just switched plan mode on by hand: true for one step."""
    afk: bool = False
    root: bool = True
    """The session's own agent, not one that it started."""


@dataclass(frozen=True, slots=True)
class DynamicInjection:
    """A reminder for the model. `type` names its provider's kind, `content` is the bare text."""

    type: str
    content: str


class DynamicInjectionProvider(ABC):
    """Asked before every model call; throttles itself."""

    @abstractmethod
    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        """What the model should be reminded of now; usually nothing."""

    async def on_context_compacted(self) -> None:
        """The history was rebuilt: earlier reminders may be gone from it."""
        return

    async def on_afk_changed(self, enabled: bool) -> None:
        """The user left or came back."""
        return


class Injections:
    """All providers, each on its own: what one raises is logged and costs nobody else."""

    def __init__(self, providers: Sequence[DynamicInjectionProvider] = ()) -> None:
        self.providers = list(providers)

    async def collect(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        """Every provider's reminders, in the order of the providers."""
        found: list[DynamicInjection] = []
        await self._each(lambda provider: _gather(provider, history, view, found))
        return found

    async def context_compacted(self) -> None:
        await self._each(lambda provider: provider.on_context_compacted())

    async def afk_changed(self, enabled: bool) -> None:
        await self._each(lambda provider: provider.on_afk_changed(enabled))

    async def _each(self, ask: Callable[[DynamicInjectionProvider], Awaitable[None]]) -> None:
        for provider in self.providers:
            try:
                await ask(provider)
            except Exception:
                log.warning("the injection provider %s failed", type(provider).__name__, exc_info=True)


async def _gather(
    provider: DynamicInjectionProvider, history: Sequence[Message], view: StepView, found: list[DynamicInjection]
) -> None:
    found += await provider.get_injections(history, view)
