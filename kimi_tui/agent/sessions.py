"""Commands about sessions and models, and the user's own shell commands."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.agent.landing import land
from kimi_tui.agent.user_shell import run_for_user
from kimi_tui.protocol.commands import (
    Fork,
    ListModels,
    ListSessions,
    NewSession,
    OpenSession,
    RemoveSession,
    RunShell,
    SwitchModel,
)
from kimi_tui.protocol.events import ModelsListed, ModesChanged, Noticed, SessionsListed
from kimi_tui.session import Session, fork_session, list_sessions, new_session, remove_session, session_at

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent


async def new(agent: Agent, command: NewSession) -> None:
    """Start afresh with the same model."""
    old = agent.desk.state
    await _change_to(agent, new_session(agent.desk.session.work_dir))
    state = agent.desk.state
    state.model, state.api_base, state.context_window = old.model, old.api_base, old.context_window


async def open_session(agent: Agent, command: OpenSession) -> None:
    """Open another session, where it was at work. The present one stays open until that has succeeded."""
    desk = agent.desk
    session = await asyncio.to_thread(session_at, Path(command.path), desk.session.work_dir)
    if session.folder.resolve() == desk.session.folder.resolve():
        agent.emit(Noticed("that session is the one that is open"))
        return
    await _change_to(agent, session)


async def fork(agent: Agent, command: Fork) -> None:
    """Go on in a copy: from where this session stands, from right before a checkpoint, or in a rotation."""
    desk = agent.desk
    if not desk.context.history and command.file is None:
        agent.emit(Noticed("there is nothing to fork yet"))
        return
    await desk.context.sync()
    copy = await asyncio.to_thread(fork_session, desk.session)
    await _change_to(agent, copy)
    if command.checkpoint is not None or command.file is not None:
        from kimi_tui.agent.travel.time_travel import revert_to
        from kimi_tui.protocol.commands import RevertTo

        await revert_to(agent, RevertTo(command.checkpoint, command.file, command.offset))


async def list_them(agent: Agent, command: ListSessions) -> None:
    sessions = await asyncio.to_thread(list_sessions, agent.desk.session.work_dir)
    agent.emit(SessionsListed(tuple(sessions)))


async def remove(agent: Agent, command: RemoveSession) -> None:
    """Delete a session's folder, but never the one that is open."""
    folder = Path(command.path)
    if folder.resolve() == agent.desk.session.folder.resolve():
        agent.emit(Noticed("the session that is open cannot be removed", "warning"))
        return
    await asyncio.to_thread(remove_session, folder)
    await list_them(agent, ListSessions())


async def list_models(agent: Agent, command: ListModels) -> None:
    """Those that have a name here; the one in use is among them whatever it is."""
    known, current = await asyncio.to_thread(agent.opener.known_models), agent.desk.model.view
    others = tuple(model for model in known if model.name != current.name)
    agent.emit(ModelsListed(known if len(others) < len(known) else (current, *others), current.name))


async def switch_model(agent: Agent, command: SwitchModel) -> None:
    """Talk to another model from the next prompt on; the context stays. Not while a subagent talks to this one."""
    if agent.desk.subagents is not None and agent.desk.subagents.at_work:
        agent.emit(Noticed("a subagent works in the background with this model: /tasks can stop it", "warning"))
        return
    model = await asyncio.to_thread(agent.opener.model, command.name)
    desk = agent.desk
    await agent.readiness.reset()
    await desk.model.close()
    desk.model, desk.folded_to = model, None
    desk.beside = None
    desk.context.calibrate(await asyncio.to_thread(desk.learned.of, model.view.name))
    desk.state.model, desk.state.api_base, desk.state.context_window = command.name, "", None
    desk.keep_state()
    desk.tell_tokens()
    agent.emit(ModesChanged(desk.modes, f"the model is {model.view.name} now"))
    agent.readiness.start()


async def run_shell(agent: Agent, command: RunShell) -> None:
    await run_for_user(agent.desk, command.command)


async def _change_to(agent: Agent, session: Session) -> None:
    async def change() -> None:
        await agent.replace(await agent.opener.desk(session, agent.desk.model))

    await land(change())
