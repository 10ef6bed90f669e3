"""Opening and closing a session: what is told first, and what is put away last."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.marks import is_prompt, said
from kimi_tui.agent.session_commands import commands_of
from kimi_tui.agent.surroundings import git_branch
from kimi_tui.agent.travel.moves import projected
from kimi_tui.agent.travel.rows import first_line
from kimi_tui.llm.model import ChatModel
from kimi_tui.places import sessions_folder
from kimi_tui.protocol.events import Event, SessionOpened, TodosChanged
from kimi_tui.protocol.views import Draft, ModelView
from kimi_tui.session import Session, prompts_of

log = logging.getLogger(__name__)


class Opener(Protocol):
    """Builds what the agent works with; implemented in `bootstrap`, which knows every room."""

    async def desk(self, session: Session, model: ChatModel) -> Desk:
        """Open a session for this model. Raises Fault or OSError with nothing left open."""

    def model(self, name: str) -> ChatModel:
        """The model that the user calls so. Raises Fault."""

    def known_models(self) -> tuple[ModelView, ...]:
        """The embedded models and those of the config."""


async def opened(desk: Desk) -> tuple[Event, ...]:
    """The first events of a session."""
    desk.transcript, chat = await asyncio.to_thread(projected, desk)
    desk.told_problems = len(desk.context.problems)
    prompts, branch = await asyncio.to_thread(_read_around, desk)
    draft = Draft() if desk.headless else await _draft(desk)
    first = next((message for message in desk.context.history[:50] if is_prompt(message)), None)
    desk.title = desk.state.title or (first_line(said(first))[:60] if first else "")
    opening = SessionOpened(
        session_id=desk.session.id,
        path=str(desk.session.folder),
        work_dir=str(desk.session.work_dir),
        title=desk.title,
        model=desk.model.view,
        modes=desk.modes,
        branch=branch,
        read_only=desk.read_only,
        notices=(
            *desk.notices,
            *(_told(each.what, each.file, each.line) for each in desk.context.problems if each.kind != "disk"),
        ),
        commands=commands_of(desk),
        history=prompts,
        draft=draft,
        resume_hint=resume_hint(desk),
    )
    todos = (TodosChanged(desk.state.todos),) if desk.state.todos else ()
    tasks = desk.tasks.first_events() if desk.tasks else ()
    return opening, chat, *todos, *tasks


async def _draft(desk: Desk) -> Draft:
    """What was in the prompt, after what was still to be sent when the session ended."""
    if desk.read_only:
        return Draft()
    state = desk.state
    is_new = desk.session.is_ours and not desk.context.history
    draft = await asyncio.to_thread(desk.unsent.found, elsewhere=is_new)
    if state.queued:
        draft = replace(draft, text="\n\n".join(text for text in (*state.queued, draft.text) if text.strip()))
        desk.unsent.keep(draft)
        await desk.unsent.flush()
        state.queued = ()
        desk.keep_state()
    return draft


def resume_hint(desk: Desk) -> str:
    """The command that opens this session again; empty while nothing is worth it."""
    if not desk.context.history:
        return ""
    ours = sessions_folder().resolve() in desk.session.folder.resolve().parents
    return f"kimi-tui -r {desk.session.id}" if ours else f"kimi-tui -S {desk.session.folder}"


async def put_away(desk: Desk, reason: str) -> None:
    """Close a session. Never raises: what fails here is logged."""
    desk.hooks.fire("SessionEnd", reason, reason=reason)
    await _end_processes(desk)
    await desk.hooks.finish()
    await desk.files.close()
    if desk.summariser is not None:
        await desk.summariser.close()
    try:
        await desk.state_file.flush()
        await desk.unsent.close()
        await desk.context.close()
        await asyncio.to_thread(desk.session.drop_if_empty)
    except OSError as fault:
        log.warning("the session could not be closed in good order: %s", fault)


async def _end_processes(desk: Desk) -> None:
    """Background tasks and servers end with the session, all at the same time."""
    ending = [one.close() for one in (desk.tasks, desk.servers) if one is not None]
    for fault in await asyncio.gather(*ending, return_exceptions=True):
        if isinstance(fault, Exception):
            log.warning("a process of the session could not be ended in good order: %s", fault)


def _read_around(desk: Desk) -> tuple[tuple[str, ...], str]:
    return prompts_of(desk.session.work_dir).load(), git_branch(desk.session.work_dir)


def _told(what: str, file: str, line: int | None) -> str:
    return f"{Path(file).name}{f', line {line}' if line else ''}: {what}" if file else what
