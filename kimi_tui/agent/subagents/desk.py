"""The desk of a subagent: a context, tools and a gauge of its own, everything else shared with the one that sent it.

What is only the root's (MECHANISMS F): plan reminders, the snapshot of background tasks after a compaction, D-Mails,
plan mode's tools, questions to the user, and further subagents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from kimi_tui.agent.compaction.nearness import Nearness
from kimi_tui.agent.compaction.proposal import Review
from kimi_tui.agent.dmail import DenwaRenji
from kimi_tui.agent.saving import StateFile
from kimi_tui.agent.session_skills import SessionSkills
from kimi_tui.agent.steering import Steering
from kimi_tui.agent.transcript import Transcript
from kimi_tui.agent.travel.files import FilesBeside, nothing_recorded
from kimi_tui.context import Context
from kimi_tui.injections import Injections
from kimi_tui.protocol.events import Event, Noticed
from kimi_tui.protocol.views import Modes
from kimi_tui.resources import prompt
from kimi_tui.session import Session, SessionState
from kimi_tui.tools.agent import SubagentType
from kimi_tui.tools.base import Tool
from kimi_tui.tools.todo import SetTodoList
from kimi_tui.tools.toolset import Toolset

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

FOLDER = "subagents"
"""In the session's folder; each subagent has a folder in it, named by its id."""

RUNS = 100
"""Calls that are remembered of one subagent."""

_ROOT_ONLY = {"Agent", "SendDMail", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion"}
_READERS_SHELL = "Shell"
"""A reader may have it: in plan mode it runs nothing that could change something."""


def subagent_session(parent: Desk, subagent_id: str) -> Session:
    return Session(parent.session.folder / FOLDER / subagent_id, parent.session.work_dir)


async def subagent_desk(
    parent: Desk,
    session: Session,
    state: SessionState,
    kind: SubagentType,
    emit: Callable[[Event], None],
    *,
    beside: bool = False,
) -> Desk:
    """Opens its context. What it asks the user is asked in the name of `state.title`. Raises OSError.

    What one `beside` the turn does to files is recorded by itself; else the step that waits for it does that."""
    context = Context(session.context_file, clock=parent.clock, calibration=parent.context.calibration)
    await context.restore()
    toolset = Toolset(_tools(parent, state, kind))
    return replace(
        parent,
        parent=parent,
        emit=emit,
        session=session,
        state=state,
        state_file=StateFile(session, state, lambda text: emit(Noticed(text, "warning"))),
        context=context,
        first_prompt=f"{parent.system_prompt}\n\n{_part(kind)}",
        toolset=toolset,
        injections=Injections(),
        steering=Steering(emit),
        denwa_renji=DenwaRenji(),
        transcript=Transcript(toolset.view),
        files=FilesBeside(parent.files, lambda: parent.context.checkpoints) if beside else nothing_recorded(),
        modes=Modes(plan=kind != "coder"),
        skills=SessionSkills(),
        tasks=None,
        subagents=None,
        servers=None,
        notices=(),
        title=state.title,
        tool_state={},
        cost=None,
        used=0,
        told_problems=0,
        told_tokens=None,
        folded_to=None,
        nearness=Nearness(),
        review=Review(),
        compact_next=None,
        plan_activated=False,
    )


def _part(kind: SubagentType) -> str:
    return Template(prompt("subagent")).substitute(role=prompt(f"subagent_{kind}"))


def _tools(parent: Desk, state: SessionState, kind: SubagentType) -> list[Tool]:
    """The parent's, servers' included, as far as they are for such a one."""

    def save(todos: object) -> None:
        state.todos = tuple(todos) if isinstance(todos, list | tuple) else ()

    own: dict[str, Tool] = {SetTodoList.name: SetTodoList(lambda: state.todos, save)}
    offered = [own.get(tool.name, tool) for tool in parent.toolset.tools() if tool.name not in _ROOT_ONLY]
    if kind == "coder":
        return offered
    return [tool for tool in offered if tool.read_only or tool.name in (_READERS_SHELL, SetTodoList.name)]


def known_kind(folder: Path, state: SessionState) -> SubagentType | None:
    """What kind a subagent was that is to go on; None when there is none in that folder."""
    noted = state.rest.get("kimi_tui")
    kind = noted.get("subagent_type") if isinstance(noted, dict) else None
    if not (folder / "context.jsonl").is_file():
        return None
    return kind if kind in ("explore", "plan") else "coder"


def note_run(state: SessionState, kind: SubagentType, call_id: str, start: int) -> None:
    """What kind it is, and where in its history it began to work for this call."""
    ours = state.rest.get("kimi_tui")
    ours = ours if isinstance(ours, dict) else {}
    runs = [*runs_in(state), (call_id, start)][-RUNS:]
    state.rest = {**state.rest, "kimi_tui": {**ours, "subagent_type": kind, "runs": [list(run) for run in runs]}}


def runs_in(state: SessionState) -> list[tuple[str, int]]:
    """For which calls a subagent worked, oldest first: their ids, and the index of each one's first message."""
    ours = state.rest.get("kimi_tui")
    runs = ours.get("runs") if isinstance(ours, dict) else None
    return [
        (run[0], run[1])
        for run in (runs if isinstance(runs, list) else ())
        if isinstance(run, list) and len(run) == 2 and isinstance(run[0], str) and type(run[1]) is int
    ]
