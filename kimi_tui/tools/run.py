"""The run of one step's calls, from the first start to the last result."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from pydantic import BaseModel

from kimi_tui.protocol.messages import Message, ToolCall
from kimi_tui.protocol.views import ToolView
from kimi_tui.tools.base import Call, CallInterrupted, Tool, ToolResult, failed
from kimi_tui.tools.dedupe import CallKey, Repeats, Verdict
from kimi_tui.tools.results import AFTER_REJECTION, INTERRUPTED, NOT_STARTED, finished, to_message
from kimi_tui.tools.text import one_line

log = logging.getLogger(__name__)

SETTLE_SECONDS = 5.0
"""How long an interrupted step waits for its tools to end what they started."""

OpenCall = Callable[[str, Callable[[str], None]], Call]
"""Call id and live output → what the tool gets."""


async def _nothing_before(view: ToolView, arguments: dict[str, Any]) -> ToolResult | None:
    return None


async def _nothing_after(view: ToolView, arguments: dict[str, Any], result: ToolResult) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told what happens, and who may step in (hooks)."""

    on_started: Callable[[ToolView], None] = lambda view: None
    on_output: Callable[[str, str], None] = lambda call_id, text: None
    on_finished: Callable[[ToolView], None] = lambda view: None
    before: Callable[[ToolView, dict[str, Any]], Awaitable[ToolResult | None]] = _nothing_before
    """Before a call runs: a result here takes the place of the run (a hook that blocks)."""
    after: Callable[[ToolView, dict[str, Any], ToolResult], Awaitable[None]] = _nothing_after
    """After a call has run; the view is as it was before."""


StopReason = Literal["", "tool_rejected", "tool_call_repeat"]


@dataclass(frozen=True, slots=True)
class StepResults:
    """One message a call, in call order. `stop` says why the turn must end after this step."""

    messages: list[Message]
    stop: StopReason = ""
    stop_text: str = ""
    """For the user, when repeats ended the turn."""
    repeats: tuple[Verdict, ...] = ()


class StepInterrupted(asyncio.CancelledError):
    """The step was cancelled; `results` answers every call of it."""

    def __init__(self, results: StepResults) -> None:
        super().__init__("the step was interrupted")
        self.results = results


@dataclass(slots=True)
class Slot:
    """One call on its way. A slot without a tool has its result (a fault) from the start."""

    call: ToolCall
    key: CallKey
    view: ToolView
    tool: Tool | None = None
    params: BaseModel | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    twin: Slot | None = None
    """The earlier call of the step that this one repeats."""
    result: ToolResult | None = None
    seconds: float | None = None
    announced: bool = False
    started: bool = False

    @property
    def sociable(self) -> bool:
        """May run beside others: it only reads, or its tool says so (`parallel`)."""
        return self.tool is None or self.tool.read_only or getattr(self.tool, "parallel", False)


class StepRun:
    """Runs the slots once."""

    def __init__(self, slots: Sequence[Slot], open_call: OpenCall, watch: Watch, repeats: Repeats) -> None:
        self._slots, self._open_call, self._watch, self._repeats = slots, open_call, watch, repeats
        self._tasks: dict[asyncio.Task[None], Slot] = {}

    async def run(self) -> StepResults:
        try:
            for group in self._groups():
                if self._rejected():
                    self._skip(group, AFTER_REJECTION, "rejected")
                else:
                    await self._together(group)
        except asyncio.CancelledError:
            await self._settle()
            self._skip(self._slots, NOT_STARTED, "interrupted")
            self._share()
            raise StepInterrupted(StepResults(self._messages(()))) from None
        self._share()
        return self._judged()

    def _groups(self) -> Iterator[list[Slot]]:
        """Neighbouring calls that may run beside each other, together; any other alone."""
        originals = [slot for slot in self._slots if slot.twin is None]
        for together, group in groupby(originals, key=lambda slot: slot.sociable):
            if together:
                yield list(group)
            else:
                yield from ([slot] for slot in group)

    def _rejected(self) -> bool:
        return any(slot.result is not None and slot.result.stop_turn for slot in self._slots)

    def _skip(self, slots: Sequence[Slot], message: str, outcome: Literal["rejected", "interrupted"]) -> None:
        for slot in slots:
            if slot.result is None and slot.twin is None:
                if slot.started:  # it did not end in time
                    slot.result = ToolResult(outcome="interrupted", message=INTERRUPTED, brief="interrupted")
                else:
                    slot.result = ToolResult(outcome=outcome, message=message, brief="not run")
                self._tell(slot)

    async def _together(self, slots: Sequence[Slot]) -> None:
        for slot in slots:
            self._announce(slot)
            if slot.result is not None:
                self._tell(slot)
        self._tasks = {asyncio.create_task(self._execute(slot)): slot for slot in slots if slot.result is None}
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _settle(self) -> None:
        """Cancel what runs and wait until it has ended, for a bounded time, whoever cancels us meanwhile."""
        for task in self._tasks:
            task.cancel()
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._tasks and time.monotonic() < deadline and not all(task.done() for task in self._tasks):
            try:
                await asyncio.wait(self._tasks, timeout=deadline - time.monotonic())
            except asyncio.CancelledError:
                continue

    async def _execute(self, slot: Slot) -> None:
        slot.started = True
        start = time.monotonic()
        try:
            result = await self._guarded(slot)
        except asyncio.CancelledError as stop:
            output = stop.output if isinstance(stop, CallInterrupted) else ""
            result = ToolResult(output, "interrupted", INTERRUPTED, "interrupted")
        except Exception as fault:
            log.exception("%s failed", slot.call.function.name)
            result = failed(f"{slot.call.function.name} broke: {type(fault).__name__}: {one_line(str(fault), 500)}")
        if slot.result is not None:  # given up on while it was ending
            return
        slot.result, slot.seconds = result, time.monotonic() - start
        self._tell(slot)

    async def _guarded(self, slot: Slot) -> ToolResult:
        assert slot.tool is not None
        call_id = slot.call.id
        call = self._open_call(call_id, lambda text: self._watch.on_output(call_id, text))
        if call.plan_file is not None and not slot.tool.plan_safe:
            return failed(f"Plan mode is on: {slot.tool.name} is not available until the plan is approved.")
        blocked = await self._watch.before(slot.view, slot.arguments)
        if blocked is not None:
            return blocked
        result = await slot.tool(slot.params, call)
        await self._watch.after(slot.view, slot.arguments, result)
        return result

    def _announce(self, slot: Slot) -> None:
        if not slot.announced:
            slot.announced = True
            self._watch.on_started(slot.view)

    def _tell(self, slot: Slot) -> None:
        assert slot.result is not None
        self._announce(slot)
        self._watch.on_finished(finished(slot.view, slot.result, slot.seconds))

    def _share(self) -> None:
        """Give repeated calls of the step the result of the first."""
        for slot in self._slots:
            if slot.twin is not None:
                slot.result, slot.seconds = slot.twin.result, 0.0
                self._tell(slot)

    def _judged(self) -> StepResults:
        verdicts = self._repeats.record([(slot.key, _digest(slot.result)) for slot in self._slots])
        stop: StopReason = "tool_rejected" if self._rejected() else ""
        text = ""
        for verdict in verdicts:
            if verdict.stop:
                stop, text = "tool_call_repeat", verdict.reminder
        return StepResults(self._messages(verdicts), stop, text, tuple(verdicts))

    def _messages(self, verdicts: Sequence[Verdict]) -> list[Message]:
        found = []
        for number, slot in enumerate(self._slots):
            assert slot.result is not None
            reminder = verdicts[number].reminder if verdicts else ""
            found.append(to_message(slot.call.id, slot.result, reminder=reminder, seconds=slot.seconds))
        return found


def _digest(result: ToolResult | None) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for text in (result.outcome, result.message, result.output) if result else ():
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
