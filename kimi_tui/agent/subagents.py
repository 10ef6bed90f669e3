"""Subagents: a tool call that is an agent. The same turns and steps, on a desk of its own."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kimi_tui.agent.landing import land
from kimi_tui.agent.nested import Nested
from kimi_tui.agent.steering import Prompt
from kimi_tui.agent.subagent_desk import known_kind, note_kind, subagent_desk, subagent_session
from kimi_tui.agent.turn import Turn
from kimi_tui.context import SessionLocked
from kimi_tui.faults import Fault
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.events import TurnEnded
from kimi_tui.protocol.views import SubagentView
from kimi_tui.resources import prompt
from kimi_tui.session import SessionState
from kimi_tui.tools.agent import AgentParams, SubagentType
from kimi_tui.tools.base import Call, CallInterrupted, ToolResult, failed
from kimi_tui.tools.text import clip

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

log = logging.getLogger(__name__)

REPORT_LIMIT = 20_000
"""Characters of a report that its sender gets to read."""
SHORTEST_REPORT = 8
"""Characters; of less than that nobody learns anything, and it is asked for once more."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True)
class Subagents:
    """Those of one session, by id. Calling it runs one from its task to its report."""

    desk: Desk
    running: dict[str, Desk] = field(default_factory=dict)

    async def __call__(self, wanted: AgentParams, call: Call) -> ToolResult:
        subagent_id = (wanted.resume or "").strip() or f"a{secrets.token_hex(4)}"
        session = subagent_session(self.desk, subagent_id)
        if wanted.resume and not _ID.fullmatch(subagent_id):
            return _unknown(subagent_id)
        if subagent_id in self.running:
            return failed(f"Subagent {subagent_id} is still at work; wait for its report.", brief="still at work")
        state, _ = await asyncio.to_thread(session.load_state)
        kind: SubagentType | None = known_kind(session.folder, state) if wanted.resume else wanted.subagent_type
        if kind is None:
            return _unknown(subagent_id)
        note_kind(state, kind)
        return await self._work(
            _Job(subagent_id, kind, wanted.prompt, wanted.description, bool(wanted.resume)), state, call
        )

    async def _work(self, job: _Job, state: SessionState, call: Call) -> ToolResult:
        parent = self.desk
        about = {"agent_name": job.kind, "agent_id": job.id}
        verdict = await parent.hooks.trigger("SubagentStart", job.kind, **about, prompt=job.prompt)
        if verdict.blocked:
            return failed(f"A hook of the user's forbade it: {verdict.reason or 'no reason given'}", brief="blocked")
        state.title = job.description
        nested = Nested(SubagentView(call.id, job.id, job.kind, job.description), parent.emit, call.emit)
        desk = await subagent_desk(parent, subagent_session(parent, job.id), state, job.kind, nested.take)
        self.running[job.id] = desk
        result = ToolResult(outcome="interrupted")
        try:
            result = await _run(desk, job)
        except asyncio.CancelledError:
            raise CallInterrupted(
                f"Subagent {job.id} was interrupted; `resume` with this id goes on with it."
            ) from None
        finally:
            del self.running[job.id]
            await land(_put_away(desk))
            parent.hooks.fire("SubagentStop", job.kind, **about, response=result.output)
            parent.telemetry.note("subagent", steps=nested.view.steps, tokens=desk.used, done=result.outcome == "ok")
            nested.change(state=_STATES.get(result.outcome, "failed"), doing="")
        return result


_STATES: dict[str, Literal["done", "failed", "interrupted"]] = {"ok": "done", "interrupted": "interrupted"}


@dataclass(frozen=True, slots=True)
class _Job:
    """One task for one subagent."""

    id: str
    kind: SubagentType
    prompt: str
    description: str
    resumed: bool


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
