"""Commands about the running turn and the modes: answered at once, whatever goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.agent.steering import Prompt, returned
from kimi_tui.protocol.commands import (
    AddDir,
    AnswerApproval,
    AnswerQuestion,
    Interrupt,
    KeepDraft,
    SendPrompt,
    SetMode,
    SetTitle,
    Steer,
    TakeBackQueued,
    TakeQueued,
)
from kimi_tui.protocol.events import Noticed, TitleChanged
from kimi_tui.session import Session, session_at

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent


def send_prompt(agent: Agent, command: SendPrompt) -> None:
    agent.send(Prompt(command.text, command.images), command.place)


def steer(agent: Agent, command: Steer) -> None:
    """Joins the running turn; without one it is an ordinary prompt."""
    prompt = Prompt(command.text, command.images)
    if agent.in_turn:
        agent.desk.steering.steer(prompt, command.place)
    else:
        agent.send(prompt)


def take_back_queued(agent: Agent, command: TakeBackQueued) -> None:
    agent.desk.steering.give_back("taken back")


def take_queued(agent: Agent, command: TakeQueued) -> None:
    """One text out of the queue; the others keep their order."""
    prompt = agent.desk.steering.take(command.queue, command.place, command.text)
    if prompt is None:
        agent.emit(Noticed("that has been sent already", "warning"))
    elif not command.drop:
        agent.emit(returned([prompt]))


def interrupt(agent: Agent, command: Interrupt) -> None:
    agent.interrupt()


def answer_approval(agent: Agent, command: AnswerApproval) -> None:
    if not agent.desk.questions.answer_approval(command):
        agent.emit(Noticed("that question is no longer open", "warning"))


def answer_question(agent: Agent, command: AnswerQuestion) -> None:
    if not agent.desk.questions.answer_question(command):
        agent.emit(Noticed("that question is no longer open", "warning"))


async def set_mode(agent: Agent, command: SetMode) -> None:
    """Switch a mode; it holds from the next call of a tool on and is remembered with the session."""
    desk = agent.desk
    if getattr(desk.state, command.mode) == getattr(desk.modes, command.mode) == command.on:
        return
    if command.mode == "plan":
        desk.plan_activated = command.on
    desk.set_mode(command.mode, command.on)
    if command.mode == "afk":
        await desk.injections.afk_changed(command.on)


async def set_title(agent: Agent, command: SetTitle) -> None:
    """Name this session, or another one from the picker."""
    desk = agent.desk
    if command.path and Path(command.path) != desk.session.folder:
        other = session_at(Path(command.path), desk.session.work_dir)
        await asyncio.to_thread(_rename, other, command.title)
        return
    desk.state.title = desk.title = command.title
    desk.keep_state()
    await desk.state_file.flush()
    agent.emit(TitleChanged(command.title))


def _rename(session: Session, title: str) -> None:
    state, _ = session.load_state()
    state.title = title
    session.save_state(state)


async def add_dir(agent: Agent, command: AddDir) -> None:
    """Let the tools use one more folder, for as long as the session lives."""
    desk = agent.desk
    folder = (desk.session.work_dir / Path(command.path).expanduser()).resolve()
    if not folder.is_dir():
        agent.emit(Noticed(f"{folder} is not a folder", "error"))
        return
    if folder not in desk.dirs:
        desk.dirs = (*desk.dirs, folder)
        desk.state.additional_dirs = tuple(str(path) for path in desk.dirs)
        desk.keep_state()
    agent.emit(Noticed(f"{folder} can be used now"))


def keep_draft(agent: Agent, command: KeepDraft) -> None:
    if not agent.desk.read_only:
        agent.desk.unsent.keep(command.draft)
