"""Folding the context (MECHANISMS M13): hooks, a summary by the model, one switch, and everybody is told.

The switch is the only thing that changes anything. Whatever fails or is cancelled before it leaves the context as it
was; after it the whole of the old timeline is a rotation, and `Undo` brings it back.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.agent.compaction.pins import kept_before
from kimi_tui.agent.compaction.plan import CompactionResult, SimpleCompaction
from kimi_tui.agent.compaction.proposal import Declined
from kimi_tui.agent.compaction.shortening import fitted
from kimi_tui.agent.compaction.summarising import Summary, edited, summarise
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import Mark, is_prompt, mark_of, unwrapped
from kimi_tui.agent.transcript import entries_of
from kimi_tui.agent.travel.moves import moved
from kimi_tui.context import Calibration
from kimi_tui.llm.model import ModelFault, Usage
from kimi_tui.llm.pairing import pair_calls
from kimi_tui.protocol.commands import AnswerCompaction
from kimi_tui.protocol.events import (
    CompactionEnded,
    CompactionPhase,
    CompactionProgressed,
    CompactionProposed,
    CompactionStarted,
)
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
        """Fold the context. False: there was nothing to fold, or the user did not want it. Raises ModelFault and
        CancelledError, with everything as it was."""
        desk = self.desk
        self.before = desk.total
        desk.emit(CompactionStarted(self.reason, self.before, self.focus))
        try:
            result = await self._prepare()
            if result is None:
                self._end("nothing", "there is nothing to fold yet")
                return False
            await land(self._switch(result))
        except Declined:
            self._end("cancelled", "the context is as it was")
            return False
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
        while True:
            self._progress("reading", self.before)
            summary = await summarise(desk, history[:cut], self.focus, self._written)
            kept = await asyncio.to_thread(self._kept, history, cut, summary)
            if not desk.reviews:
                return _folded(summary, kept, desk.context.calibration)
            answer = await self._review(history[:cut], kept, summary)
            if answer.answer == "accept":
                return _folded(edited(summary, answer.text), kept, desk.context.calibration)
            self.focus = answer.focus.strip()

    async def _review(self, replaced: Sequence[Message], kept: Sequence[Message], summary: Summary) -> AnswerCompaction:
        """Put the summary to the user. Raises Declined."""
        desk = self.desk
        result = _folded(summary, kept, desk.context.calibration)
        self._progress("reviewing", summary.tokens)
        proposal = CompactionProposed(
            summary=unwrapped(summary.message),
            replaced=await asyncio.to_thread(entries_of, desk.toolset.view, replaced),
            kept=await asyncio.to_thread(entries_of, desk.toolset.view, kept),
            tokens_before=self.before,
            tokens_after=result.estimated_token_count + desk.overhead(),
            focus=self.focus,
        )
        answer = await desk.review.ask(proposal, desk.emit)
        if answer.answer == "cancel":
            raise Declined
        return answer

    def _plan(self) -> tuple[list[Message], int]:
        """What counts of the history, every call in it answered once, and where the kept part of it begins."""
        history = pair_calls([message for message in self.desk.context.history if mark_of(message) not in _PASSING])
        return history, SimpleCompaction(self.desk.loop.max_preserved_messages).cut(history)

    def _kept(self, history: Sequence[Message], cut: int, summary: Summary) -> list[Message]:
        """What follows the summary: pinned messages and the newest request word for word, then the last messages."""
        pins = self.desk.pins
        wanted = {index for index in range(cut) if pins.holds(history[index])} | _newest_request(history, cut)
        kept = [history[index] for index in kept_before(history, cut, wanted)]
        return self._fitted([*kept, *history[cut:]], summary.tokens)

    def _without_summary(self, history: Sequence[Message]) -> CompactionResult | None:
        """Nothing stands before the kept messages: what can be cut from them is cut, if it has to be."""
        shorter = self._fitted(history, 0)
        same = all(new is old for new, old in zip(shorter, history, strict=True))
        return None if same else CompactionResult(shorter, None, self.desk.context.calibration)

    def _fitted(self, kept: Sequence[Message], taken: int) -> list[Message]:
        """The kept messages, with their big tool outputs shortened until all of it fits well beside what is `taken`.
        Pinned ones stay as they are."""
        desk = self.desk
        if not desk.window:
            return list(kept)
        fixed = {index for index, message in enumerate(kept) if desk.pins.holds(message)}
        pinned = desk.context.estimate([kept[index] for index in fixed])
        room = int(desk.loop.limits.trigger_in(desk.window) * TARGET) - desk.overhead() - taken - pinned
        shorter = iter(
            fitted(
                [message for index, message in enumerate(kept) if index not in fixed], room, desk.context.calibration
            )
        )
        return [message if index in fixed else next(shorter) for index, message in enumerate(kept)]

    async def _switch(self, result: CompactionResult) -> None:
        desk = self.desk
        self._progress("switching")
        running = desk.tasks.active_snapshot() if desk.tasks else []
        after = result.estimated_token_count + desk.context.estimate(running) + desk.overhead()
        first = result.messages[0]
        head = unwrapped(first)[:200] if mark_of(first) == "summary" else "tool output shortened"
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
    """Before a step: compact when the user asked for it, or when the context is over its limit. Raises ContextFull
    when that cannot help."""
    await _as_asked(desk)
    if not over_limit(desk):
        return
    if _grown(desk):
        await Compaction(desk, "auto").run()
        desk.folded_to = desk.total
    if over_limit(desk) and not fits(desk):
        raise ContextFull("The context cannot be made smaller: what must be kept fills the model's window by itself.")


async def _as_asked(desk: Desk) -> None:
    """The user said so while the step before ran. What goes wrong with it does not end the turn."""
    focus, desk.compact_next = desk.compact_next, None
    if focus is None:
        return
    with contextlib.suppress(ModelFault):  # told by CompactionEnded
        await Compaction(desk, "manual", focus).run()


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


def hint_for(fault: ModelFault) -> str:
    """What the user can do. Of a context that is too long a summary was tried already."""
    return _TOO_LONG if fault.kind == "context_overflow" and not isinstance(fault, ContextFull) else fault.hint


_TOO_LONG = "Use a model with a larger window, go back on the timeline, or /clear: what is cleared can be undone."
"""When even the request for a summary is too long, in parts too."""


def _folded(summary: Summary, kept: Sequence[Message], calibration: Calibration | None) -> CompactionResult:
    return CompactionResult([summary.message, *kept], summary.usage or Usage(0, summary.tokens), calibration)


def _newest_request(history: Sequence[Message], cut: int) -> set[int]:
    """Where the user's last request stands, unless it is kept anyway."""
    if any(is_prompt(message) for message in history[cut:]):
        return set()
    return set(next(([index] for index in range(cut - 1, -1, -1) if is_prompt(history[index])), []))
