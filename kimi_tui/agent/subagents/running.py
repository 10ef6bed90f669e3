"""Subagents: a tool call that is an agent. The same turns and steps, on a desk of its own.

A call waits for the report, or lets the subagent work as a background task: then the call ends at once, the turn goes
on, and the report is told like the end of any task (`task_news`).
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kimi_tui.agent.landing import land
from kimi_tui.agent.steering import Prompt
from kimi_tui.agent.subagents.desk import known_kind, note_run, subagent_desk, subagent_session
from kimi_tui.agent.subagents.nested import Nested
from kimi_tui.agent.turn import Turn
from kimi_tui.background import JobEnd, Order
from kimi_tui.context import SessionLocked
from kimi_tui.faults import Fault
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.events import TurnEnded
from kimi_tui.protocol.views import SubagentView
from kimi_tui.resources import prompt
from kimi_tui.session import SessionState
from kimi_tui.tools.agent import AgentParams, SubagentType
from kimi_tui.tools.base import Call, CallInterrupted, ToolResult, failed
from kimi_tui.tools.text import clip, one_line

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

log = logging.getLogger(__name__)

REPORT_LIMIT = 20_000
"""Characters of a report that its sender gets to read."""
SHORTEST_REPORT = 8
"""Characters; of less than that nobody learns anything, and it is asked for once more."""

NO_BACKGROUND = (
    "There are no background tasks here, and the subagent was not started. Call Agent again without "
    "run_in_background: several calls in one step run side by side."
)

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Job:
    """One task for one subagent."""

    id: str
    kind: SubagentType
    prompt: str
    description: str
    call: str
    """Id of the call that it works for."""


@dataclass(frozen=True, slots=True)
class Running:
    """One that is at work."""

    desk: Desk
    nested: Nested


@dataclass(slots=True)
class Subagents:
    """Those of one session, by id. Calling it runs one from its task to its report."""

    desk: Desk
    running: dict[str, Running] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    """Of this run of the program: which call was whose."""
    _taken: set[str] = field(default_factory=set)
    """Ids of those that are at work or about to be."""

    @property
    def at_work(self) -> bool:
        """Some are, or are about to be."""
        return bool(self._taken)

    async def __call__(self, wanted: AgentParams, call: Call) -> ToolResult:
        if wanted.run_in_background and self.desk.tasks is None:
            return failed(NO_BACKGROUND, brief="not available")
        subagent_id = (wanted.resume or "").strip() or f"a{secrets.token_hex(4)}"
        if wanted.resume and not _ID.fullmatch(subagent_id):
            return _unknown(subagent_id)
        if subagent_id in self._taken:
            return failed(f"Subagent {subagent_id} is still at work; wait for its report.", brief="still at work")
        self._taken.add(subagent_id)
        started = False
        try:
            result, started = await self._start(subagent_id, wanted, call)
            return result
        finally:
            if not started:
                self._taken.discard(subagent_id)

    async def _start(self, subagent_id: str, wanted: AgentParams, call: Call) -> tuple[ToolResult, bool]:
        """The call's result, and whether the subagent works on beyond it."""
        session = subagent_session(self.desk, subagent_id)
        state, _ = await asyncio.to_thread(session.load_state)
        kind: SubagentType | None = known_kind(session.folder, state) if wanted.resume else wanted.subagent_type
        if kind is None:
            return _unknown(subagent_id), False
        job = _Job(subagent_id, kind, wanted.prompt, wanted.description, call.id)
        if (forbidden := await self._forbidden(job)) is not None:
            return forbidden, False
        state.title = job.description
        if wanted.run_in_background:
            return self._send_off(job, state, call)
        nested = Nested(_view(job), self.desk.emit, call.emit)
        try:
            return await self._work(job, state, nested), False
        except asyncio.CancelledError:
            told = f"Subagent {job.id} was interrupted; `resume` with this id goes on with it."
            raise CallInterrupted(told) from None

    async def _forbidden(self, job: _Job) -> ToolResult | None:
        about = {"agent_name": job.kind, "agent_id": job.id}
        verdict = await self.desk.hooks.trigger("SubagentStart", job.kind, **about, prompt=job.prompt)
        if not verdict.blocked:
            return None
        return failed(f"A hook of the user's forbade it: {verdict.reason or 'no reason given'}", brief="blocked")

    def _send_off(self, job: _Job, state: SessionState, call: Call) -> tuple[ToolResult, bool]:
        """Let it work as a background task."""
        assert self.desk.tasks is not None
        nested = Nested(_view(job), self.desk.emit, call.emit)

        async def work(say: Callable[[str], None]) -> JobEnd:
            nested.also(say)
            try:
                return _job_end(await self._work(job, state, nested, beside=True))
            finally:
                self._taken.discard(job.id)

        command = one_line(f"{job.kind} subagent {job.id}: {job.description}")
        order = Order(work, command, job.description, job.id, job.kind, job.call, lambda: nested.view)
        try:
            task = self.desk.tasks.own.carry_out(order)
        except (OSError, ValueError) as fault:
            nested.change(state="failed")
            return failed(f"The subagent was not started: {fault}", brief="not started"), False
        wait = " This run ends with your answer: wait for the report before you give it." if self.desk.headless else ""
        message = (
            f"Subagent {job.id} ({job.kind}) works in the background as {task.id}. You will be told when it has ended, "
            f"with its report; go on meanwhile. TaskOutput shows how it stands, TaskStop ends it.{wait}"
        )
        return ToolResult(message=message, brief=task.id), True

    async def _work(self, job: _Job, state: SessionState, nested: Nested, *, beside: bool = False) -> ToolResult:
        """From its task to its report; `beside` the turn, or within the step that waits for it."""
        parent = self.desk
        about = {"agent_name": job.kind, "agent_id": job.id}
        result = ToolResult(outcome="interrupted")
        try:
            session = subagent_session(parent, job.id)
            desk = await subagent_desk(parent, session, state, job.kind, nested.take, beside=beside)
            note_run(state, job.kind, job.call, len(desk.context.history))
            self.calls[job.call] = job.id
            if desk.context.history:
                desk.keep_state()
            self.running[job.id] = Running(desk, nested)
            try:
                result = await _run(desk, job)
            finally:
                del self.running[job.id]
                await land(_put_away(desk))
                parent.telemetry.note(
                    "subagent", steps=nested.view.steps, tokens=desk.used, done=result.outcome == "ok"
                )
        finally:
            parent.hooks.fire("SubagentStop", job.kind, **about, response=result.output)
            nested.change(state=_STATES.get(result.outcome, "failed"), doing="")
        return result


_STATES: dict[str, Literal["done", "failed", "interrupted"]] = {"ok": "done", "interrupted": "interrupted"}


def _view(job: _Job) -> SubagentView:
    return SubagentView(job.call, job.id, job.kind, job.description)


def _job_end(result: ToolResult) -> JobEnd:
    """How a background task ended, told as the tool would have told it."""
    if result.outcome == "ok":
        return JobEnd("done", report=result.output)
    return JobEnd("failed", one_line(result.message, 400), result.output)


async def _run(desk: Desk, job: _Job) -> ToolResult:
    """Its turn. Faults of the model or the disk become the result; they end the subagent, not its sender."""
    turn = Turn(desk)
    try:
        ended = await turn.run(Prompt(job.prompt))
        if ended.reason == "done" and not ended.message and len(turn.answer.strip()) < SHORTEST_REPORT:
            await turn.steer(Prompt(prompt("subagent_more"), typed=""))
            ended = await turn.go_on()
    except (ModelFault, Fault, OSError, SessionLocked) as fault:
        hint = getattr(fault, "hint", "")
        return failed(f"The subagent failed: {fault} {hint}".strip() + _resumable(job), output=_report(turn))
    return _result(desk, job, turn, ended)


def _result(desk: Desk, job: _Job, turn: Turn, ended: TurnEnded) -> ToolResult:
    figures = f"{turn.steps} steps, {desk.used:,} tokens" if turn.steps != 1 else f"1 step, {desk.used:,} tokens"
    if ended.reason != "done":
        return failed(
            f"The subagent did not finish: {ended.message or ended.reason}." + _resumable(job), output=_report(turn)
        )
    if ended.message:
        return ToolResult(
            _report(turn),
            "rejected",
            "The user rejected what the subagent wanted to do, and it stopped." + _resumable(job),
            "rejected",
            stop_turn=True,
        )
    return ToolResult(
        _report(turn), message=f"Subagent {job.id} ({job.kind}) reports." + _resumable(job), brief=figures
    )


def _resumable(job: _Job) -> str:
    return f" `resume` with id {job.id} goes on with it."


def _report(turn: Turn) -> str:
    return clip(turn.answer.strip(), REPORT_LIMIT)


def _unknown(subagent_id: str) -> ToolResult:
    return failed(f"There is no subagent {subagent_id!r} in this session; leave `resume` out to start one.")


async def _put_away(desk: Desk) -> None:
    """Close its files. What fails here is logged: the report is what matters."""
    try:
        desk.keep_state()
        await desk.state_file.flush()
        await desk.context.close()
    except OSError as fault:
        log.warning("a subagent's files could not be closed in good order: %s", fault)
