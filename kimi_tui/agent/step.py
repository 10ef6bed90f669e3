"""A step: one model call and its tools.

    make room, set a checkpoint, add reminders, ask the model, store its answer, run its tools, store their results

The answer is on disk before its tools run; whatever stops a step, every call it stored has exactly one result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.agent.compaction.compact import make_room
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.dmail import delivery
from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import reminder
from kimi_tui.agent.stream import Draft, fold
from kimi_tui.agent.tool_calls import open_call, watch
from kimi_tui.agent.travel.moves import shown_anew
from kimi_tui.agent.travel.rows import mark_named, newest_checkpoint, newest_rows
from kimi_tui.llm.model import ModelFault, Usage
from kimi_tui.llm.retry import stream_with_retry
from kimi_tui.protocol.events import (
    CheckpointCreated,
    EntryAdded,
    MessageStored,
    Noticed,
    RetryScheduled,
    StepEnded,
    StepStarted,
    StreamReset,
    TurnEnd,
)
from kimi_tui.protocol.messages import Message
from kimi_tui.tools.toolset import StepInterrupted, StepResults

_CUT_OFF = {
    "length": "the answer was cut off: the model may not write more at once (`max_output_tokens`)",
    "content_filter": "the answer was cut off by the provider's content filter",
}
_WITHHELD = "the provider's content filter withheld the answer"


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Why a step was the last of its turn."""

    reason: TurnEnd
    message: str = ""
    silent: bool = False
    """The model has neither said nor called anything, but perhaps thought."""


@dataclass(slots=True)
class Step:
    """One step while it runs."""

    desk: Desk
    number: int
    requests: Sequence[int] = ()
    """Where in the history stands what the user said in this turn."""
    draft: Draft = field(default_factory=Draft)
    begun: float = field(default_factory=time.monotonic)


async def take_step(step: Step) -> StepOutcome | None:
    """Take it. None: another one follows. Raises BackToTheFuture, ModelFault, CancelledError."""
    desk = step.desk
    await make_room(desk)
    desk.emit(StepStarted(step.number))
    try:
        await set_checkpoint(desk)
        await add_reminders(desk)
        answer = await ask(step)
        results = await run_tools(desk, answer)
    finally:
        desk.emit(StepEnded(step.number, next(newest_rows(desk))))
        desk.tell_tokens()
        if desk.tell_problems():
            await land(shown_anew(desk))
    return resolve(step, answer, results)


async def bookmark(desk: Desk) -> None:
    """A checkpoint. Where the model sees it, it is a message too, which the chat passes over."""
    await land(_bookmark(desk))


async def _bookmark(desk: Desk) -> None:
    shown = desk.shows_checkpoints
    await desk.context.checkpoint(shown)
    if shown:
        desk.transcript.add(desk.context.history[-1], checkpoint=newest_checkpoint(desk.context))


async def set_checkpoint(desk: Desk) -> None:
    """A bookmark before the call; the model may send a D-Mail to any that exist now."""
    await bookmark(desk)
    desk.denwa_renji.set_n_checkpoints(desk.context.n_checkpoints)
    rows = newest_rows(desk)
    desk.emit(CheckpointCreated(next(rows), next(rows, None)))


async def add_reminders(desk: Desk) -> None:
    """Ask every injection provider; what they say is one message of its own."""
    found = await desk.injections.collect(desk.context.history, desk.step_view())
    desk.plan_activated = False
    if not found:
        return
    await say_beside(desk, "\n".join(reminder(injection.content) for injection in found))


async def say_beside(desk: Desk, text: str) -> None:
    """A word from the program to the model, as a message of its own."""
    message = Message(role="user", content=text, kt={"at": round(desk.clock(), 3)})
    await land(desk.context.append_message(message))
    index = desk.transcript.add(message, checkpoint=newest_checkpoint(desk.context))
    desk.emit(EntryAdded(index, desk.transcript.entries[index]))


async def ask(step: Step) -> Message:
    """Stream the answer and put it on disk, whole; of one that breaks off, what the user has read is kept."""
    desk, draft = step.desk, step.draft
    draft.clear()
    pieces = stream_with_retry(desk.model, desk.request(), desk.loop.retry, lambda *retry: _retry(desk, *retry))
    try:
        await fold(pieces, draft, desk.emit)
    except asyncio.CancelledError:
        await land(_keep_partial(step))
        raise
    except ModelFault:
        desk.emit(StreamReset())
        raise
    message = draft.message(kt=_noted(step))
    await land(_store(step, message, draft.usage))
    return message


async def run_tools(desk: Desk, answer: Message) -> StepResults:
    """Run the calls of the answer. Stopped or not, each of them gets its one result on disk."""
    if not answer.tool_calls:
        return StepResults([])
    try:
        results = await desk.toolset.run(answer.tool_calls, open_call(desk), watch(desk))
    except StepInterrupted as stop:
        await land(_store_results(desk, stop.results))
        raise
    finally:
        desk.files.step_ended()
    await land(_store_results(desk, results))
    return results


def resolve(step: Step, answer: Message, results: StepResults) -> StepOutcome | None:
    """What comes after the step: a jump, the end of the turn, or another step (None)."""
    desk = step.desk
    dmail = desk.denwa_renji.fetch_pending_dmail()
    if results.stop == "tool_rejected":
        return StepOutcome("done", "stopped: you rejected a tool")
    if dmail:
        history = desk.context.history
        first = mark_named(desk.context, dmail.checkpoint_id).history_index
        raise delivery(dmail, history[first:], [history[index] for index in step.requests if index >= first])
    if results.stop == "tool_call_repeat":
        desk.telemetry.note("repeat_stop")
        return StepOutcome("tool_call_repeat", results.stop_text)
    if answer.tool_calls:
        return None
    if step.draft.silent and step.draft.finish == "content_filter":
        return StepOutcome("failed", _WITHHELD)
    if cut := _CUT_OFF.get(step.draft.finish):
        desk.emit(Noticed(cut, "warning"))
    return StepOutcome("done", silent=step.draft.silent)


async def _store(step: Step, message: Message, usage: Usage | None) -> None:
    desk = step.desk
    total = usage.input + usage.output if usage else None
    guessed = usage is not None and not usage.exact
    await desk.context.commit(messages=[message], usage=total, guessed=guessed, sync=_changes(desk, message))
    if usage:
        desk.spent(usage)
    start = desk.transcript.add(message, checkpoint=newest_checkpoint(desk.context))
    desk.emit(MessageStored(start, tuple(desk.transcript.entries[start:])))
    desk.tell_tokens()
    counts = {"input": usage.input, "output": usage.output, "cached": usage.cached} if usage else {}
    desk.telemetry.note("step", seconds=round(time.monotonic() - step.begun, 3), **counts)


def _changes(desk: Desk, message: Message) -> bool:
    """Whether a call of this answer may change something: what led to it must survive a power cut."""
    tools = (desk.toolset.get(call.function.name) for call in message.tool_calls or ())
    return any(tool is not None and not tool.read_only for tool in tools)


async def _keep_partial(step: Step) -> None:
    message = step.draft.partial(kt=_noted(step) | {"interrupted": True})
    if message:
        await _store(step, message, None)


async def _store_results(desk: Desk, results: StepResults) -> None:
    await desk.context.append_message(results.messages)
    await desk.context.sync()
    for message in results.messages:
        desk.transcript.add(message, checkpoint=newest_checkpoint(desk.context))


def _noted(step: Step) -> dict[str, Any]:
    return {"at": round(step.desk.clock(), 3), "seconds": round(time.monotonic() - step.begun, 3)}


def _retry(desk: Desk, reason: str, attempt: int, attempts: int, wait: float) -> None:
    desk.emit(RetryScheduled(reason, attempt, attempts, wait))
    desk.telemetry.note("retry", attempt=attempt, wait=round(wait, 3))
