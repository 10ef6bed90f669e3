"""Folding the context (MECHANISMS M13): hooks, a summary by the model, one switch, and everybody is told.

The switch is the only thing that changes anything. Whatever fails or is cancelled before it leaves the context as it
was; after it the whole of the old timeline is a rotation, and `Undo` brings it back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.agent.compaction import CompactionResult, SimpleCompaction
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import Mark, is_prompt, mark_of, unwrapped
from kimi_tui.agent.moves import moved
from kimi_tui.agent.shortening import fitted
from kimi_tui.agent.summarising import Summary, summarise
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.pairing import pair_calls
from kimi_tui.protocol.events import CompactionEnded, CompactionPhase, CompactionProgressed, CompactionStarted
from kimi_tui.protocol.messages import Message

Reason = Literal["auto", "manual"]

TARGET = 0.6
"""A compaction aims at this share of the trigger, so that the next one is not due at once."""


_PASSING: tuple[Mark, ...] = ("checkpoint", "reminder")
"""Messages that a compaction leaves out: they name checkpoints that are no more, or are said anew when needed."""

GROWTH = 1.1
"""A context that is still over its limit after a compaction is only compacted again when it has grown by this much."""


class ContextFull(ModelFault):
    """The context cannot be made to fit."""

    def __init__(self, message: str) -> None:
        super().__init__(
            "context_overflow",
            message,
            hint="Go back on the timeline, start a new session, or use a model with a larger window.",
        )


@dataclass(slots=True)
class Compaction:
    """One compaction while it runs."""

    desk: Desk
    reason: Reason
    focus: str = ""
    begun: float = field(default_factory=time.monotonic)
    before: int = 0

    async def run(self) -> bool:
        """Fold the context. False: there was nothing to fold. Raises ModelFault and CancelledError, with everything
        as it was."""
        desk = self.desk
        self.before = desk.total
        desk.emit(CompactionStarted(self.reason, self.before, self.focus))
        try:
            result = await self._prepare()
            if result is None:
                self._end("nothing", "there is nothing to fold yet")
                return False
            await land(self._switch(result))
        except asyncio.CancelledError:
            self._end("cancelled", "the context is as it was")
            raise
        except ModelFault as fault:
            self._end("failed", str(fault))
            raise
        return True

    async def _prepare(self) -> CompactionResult | None:
        """The new history, not yet in place."""
        desk = self.desk
        self._progress("hooks")
        await desk.hooks.trigger("PreCompact", self.reason, trigger=self.reason, token_count=self.before)
        history, cut = await asyncio.to_thread(self._plan)
        if not cut:
            return self._without_summary(history)
        self._progress("reading", self.before)
        summary = await summarise(desk, history[:cut], self.focus, self._written)
        if summary.usage:
            desk.spent(summary.usage)
        kept = [*_newest_request(history, cut), *history[cut:]]
        return CompactionResult(
            [summary.message, *self._fitted(kept, summary)], summary.usage, desk.context.calibration
        )

    def _plan(self) -> tuple[list[Message], int]:
        """What counts of the history, every call in it answered once, and where the kept part of it begins."""
        history = pair_calls([message for message in self.desk.context.history if mark_of(message) not in _PASSING])
        return history, SimpleCompaction(self.desk.loop.max_preserved_messages).cut(history)

    def _without_summary(self, history: Sequence[Message]) -> CompactionResult | None:
        """Nothing stands before the kept messages: what can be cut from them is cut, if it has to be."""
        shorter = self._fitted(history, None)
        same = all(new is old for new, old in zip(shorter, history, strict=True))
        return None if same else CompactionResult(shorter, None, self.desk.context.calibration)

    def _fitted(self, kept: Sequence[Message], summary: Summary | None) -> list[Message]:
        """The kept messages, with their big tool outputs shortened until all of it fits well."""
        desk = self.desk
        if not desk.window:
            return list(kept)
        room = int(desk.loop.limits.trigger_in(desk.window) * TARGET) - desk.overhead()
        return fitted(kept, room - (summary.tokens if summary else 0), desk.context.calibration)

    async def _switch(self, result: CompactionResult) -> None:
        desk = self.desk
        self._progress("switching")
        running = desk.tasks.active_snapshot() if desk.tasks else []
        after = result.estimated_token_count + desk.context.estimate(running) + desk.overhead()
        head = unwrapped(result.messages[0])[:200] if result.usage else "tool output shortened"
        switch = await desk.context.rewrite(
            "compact",
            keep_until=None,
            system_prompt=desk.context.system_prompt,
            checkpoint=True,
            add_user_message=desk.shows_checkpoints,
            messages=[*result.messages, *running],
            usage=after,
            note=head,
        )
        await moved(desk, switch)
        await desk.injections.context_compacted()
        desk.hooks.fire("PostCompact", self.reason, trigger=self.reason, estimated_token_count=after)
        desk.telemetry.note("compaction", before=self.before, after=after, seconds=round(self._seconds(), 3))
        self._end("done", after=after)

    def _written(self, tokens: int, fraction: float | None) -> None:
        self._progress("summarising", tokens, fraction)

    def _progress(self, phase: CompactionPhase, tokens: int = 0, fraction: float | None = None) -> None:
        self.desk.emit(CompactionProgressed(phase, tokens, fraction, self._seconds()))

    def _end(
        self, outcome: Literal["done", "nothing", "cancelled", "failed"], message: str = "", after: int = 0
    ) -> None:
        self.desk.emit(CompactionEnded(outcome, self.before, after or self.before, message))

    def _seconds(self) -> float:
        return time.monotonic() - self.begun


async def make_room(desk: Desk) -> None:
    """Before a step: compact when the context is over its limit. Raises ContextFull when that cannot help."""
    if not over_limit(desk):
        return
    if _grown(desk):
        await Compaction(desk, "auto").run()
        desk.folded_to = desk.total
    if over_limit(desk) and not fits(desk):
        raise ContextFull("The context cannot be made smaller: what must be kept fills the model's window by itself.")


async def compact_after_overflow(desk: Desk, fault: ModelFault) -> None:
    """The provider says that the context is too long, whatever the gauge says: compact once, or give its word on."""
    if isinstance(fault, ContextFull) or not await Compaction(desk, "auto").run():
        raise fault


def over_limit(desk: Desk) -> bool:
    """Whether the next call would need more than the limits allow."""
    return desk.loop.limits.exceeded(desk.total, desk.window)


def fits(desk: Desk) -> bool:
    """Whether the next call can be made at all, limits aside: half the reserve is enough for a reply."""
    return desk.total < desk.window - desk.loop.limits.reserve_in(desk.window) // 2


def _grown(desk: Desk) -> bool:
    """Whether there is more than the last compaction left: else the next one would not get further."""
    return desk.folded_to is None or desk.total > desk.folded_to * GROWTH


def _newest_request(history: Sequence[Message], cut: int) -> list[Message]:
    """What the user asked last, word for word, unless it is kept anyway."""
    if any(is_prompt(message) for message in history[cut:]):
        return []
    latest = next((message for message in reversed(history[:cut]) if is_prompt(message)), None)
    return [latest] if latest else []
