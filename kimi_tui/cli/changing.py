"""Opens a session for a command that changes it: the lock is taken, and given back when the work is done."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kimi_tui.agent.travel.derived import plan_after, plan_calls, todos_of
from kimi_tui.cli.reading import unreadable
from kimi_tui.context import Context, SessionLocked, Switch
from kimi_tui.literal import one_line
from kimi_tui.session import Session, SessionFault
from kimi_tui.session.state import save_state

T = TypeVar("T")


def changed(session: Session, work: Callable[[Context], Awaitable[T]]) -> T:
    """What the work returns. Raises `SessionFault`: held by another process, refused by the disk, not possible."""
    try:
        return asyncio.run(_opened(session, work))
    except SessionLocked as fault:
        raise _held(session, str(fault.holder or "another program")) from fault
    except ValueError as fault:
        raise SessionFault(str(fault)) from fault
    except OSError as error:
        raise unreadable(session.context_file, error) from error


async def _opened(session: Session, work: Callable[[Context], Awaitable[T]]) -> T:
    context = Context(session.context_file, clock=time.time)
    try:
        await context.restore()
        if context.holder is not None:
            raise _held(session, str(context.holder))
        session.sweep()
        for problem in context.problems:
            print(f"kimi-tui: {one_line(f'{problem.file}: {problem.what}')}", file=sys.stderr)
        return await work(context)
    finally:
        await context.close()


def _held(session: Session, holder: str) -> SessionFault:
    return SessionFault(f"{holder} has {session.folder} open", hint="Close it there first.")


async def jumped(session: Session, context: Context, jump: Callable[[], Awaitable[Switch | None]]) -> Switch | None:
    """Jump; the to-dos and the plan mode that the session remembers follow, as they do on the screen."""
    before = plan_calls(context.history)
    switch = await jump()
    if switch is not None:
        _follow(session, context, before)
    return switch


def _follow(session: Session, context: Context, before: tuple[tuple[str, str], ...]) -> None:
    state, _ = session.load_state()
    todos = todos_of(context.history)
    plan = plan_after(before, plan_calls(context.history))
    if (todos, plan) in ((state.todos, None), (state.todos, state.plan)):
        return
    state.todos, state.plan = todos, state.plan if plan is None else plan
    save_state(session.folder, state)
