"""A turn: what the user said, then steps until the model has nothing left to do."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from kimi_tui import resources
from kimi_tui.agent.compaction.compact import compact_after_overflow
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.dmail import BackToTheFuture
from kimi_tui.agent.healing import missing_results
from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import system_note
from kimi_tui.agent.mentions import with_resources
from kimi_tui.agent.steering import Prompt, returned
from kimi_tui.agent.step import Step, StepOutcome, bookmark, say_beside, take_step
from kimi_tui.agent.travel.jumps import deliver
from kimi_tui.agent.travel.moves import begin
from kimi_tui.agent.travel.rows import newest_checkpoint
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.events import SteerTaken, TurnEnd, TurnEnded, TurnStarted

MAX_NUDGES = 3
"""How often in a row a model that says nothing is asked for an answer."""


@dataclass(slots=True)
class Turn:
    """One turn while it runs."""

    desk: Desk
    requests: list[int] = field(default_factory=list)
    """Where in the history stands what the user said in this turn: the prompt, then the steers."""
    steps: int = 0
    begun: float = field(default_factory=time.monotonic)
    opened: bool = False
    """The prompt is on disk."""
    answer: str = ""
    """What the model said last, without its thinking."""
    tool_calls: int = 0
    silent: int = 0
    """Steps in a row in which the model said and did nothing."""

    async def run(self, prompt: Prompt) -> TurnEnded:
        """Say it, and take steps until one of them is the last."""
        await self.open(prompt)
        return await self.go_on()

    async def go_on(self) -> TurnEnded:
        """Take steps until one of them is the last."""
        while self.steps < self.desk.loop.max_steps:
            self.steps += 1
            outcome = await self._step()
            self.silent = self.silent + 1 if outcome is not None and outcome.silent else 0
            if await self._take_steers() or outcome is None:
                continue
            if not outcome.silent:
                return self.ended(outcome.reason, outcome.message)
            if self.silent > MAX_NUDGES:
                return self.ended("failed", "the model did not answer", "Ask again, or use another model.")
            await say_beside(self.desk, system_note(resources.prompt("no_answer")).text)
        return self.ended("max_steps", f"stopped after {self.steps} steps")

    def ended(self, reason: TurnEnd, message: str = "", hint: str = "") -> TurnEnded:
        """The turn's last event."""
        return TurnEnded(reason, message, hint, self.steps, time.monotonic() - self.begun)

    async def open(self, prompt: Prompt) -> None:
        """A checkpoint, so that the turn can be taken back, then the prompt: on disk before anything else happens."""
        desk = self.desk
        desk.denwa_renji.new_turn()
        desk.toolset.repeats.reset()
        desk.files.warm()
        await land(begin(desk))
        await land(self._heal())
        await bookmark(desk)
        if prompt.label:
            await land(desk.context.name_checkpoint(desk.context.checkpoints[-1].id, prompt.label))
        index = await self._say(prompt, turn=True)
        self.opened = True
        await land(desk.context.sync())
        desk.emit(TurnStarted(desk.transcript.entries[index], index))

    async def _heal(self) -> None:
        """Answer the calls that a killed program left behind."""
        results = missing_results(self.desk.context.history)
        if results:
            await self.desk.context.append_message(results)
        for message in results:
            self.desk.transcript.add(message, checkpoint=newest_checkpoint(self.desk.context))

    async def _step(self) -> StepOutcome | None:
        """One step; a context that the provider finds too long is compacted once, a D-Mail is delivered."""
        step = Step(self.desk, self.steps, self.requests)
        try:
            try:
                return await take_step(step)
            except ModelFault as fault:
                if fault.kind != "context_overflow":
                    raise
                await compact_after_overflow(self.desk, fault)
                return await take_step(step)
        except BackToTheFuture as jump:
            self.requests = await deliver(self.desk, jump, self.requests)
            return None
        finally:
            self.answer, self.tool_calls = step.draft.text, self.tool_calls + len(step.draft.calls)

    async def _take_steers(self) -> bool:
        """Put what the user sent meanwhile into the context. True when there was anything: another step is due."""
        steers = self.desk.steering.take_steers()
        for place, steer in enumerate(steers):
            try:
                await self.steer(await with_resources(self.desk, steer))
            except asyncio.CancelledError:
                self.desk.emit(returned(steers[place:]))
                raise
        return bool(steers)

    async def steer(self, steer: Prompt) -> None:
        """Say something more in the running turn."""
        index = await self._say(steer)
        self.desk.emit(SteerTaken(index, self.desk.transcript.entries[index]))

    async def _say(self, prompt: Prompt, *, turn: bool = False) -> int:
        desk = self.desk
        message = prompt.message(desk.clock())
        self.requests.append(len(desk.context.history))
        await land(desk.context.append_message(message))
        return desk.transcript.add(message, checkpoint=newest_checkpoint(desk.context), turn=turn)
