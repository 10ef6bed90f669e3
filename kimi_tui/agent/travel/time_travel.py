"""Commands that move time: back to a checkpoint, undo and redo, a rotation made live, clearing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import carried_over
from kimi_tui.agent.travel.derived import follow, plan_calls
from kimi_tui.agent.travel.file_travel import Move, redo_move, travel_and_tell, undo_move, with_files
from kimi_tui.agent.travel.goals import find_goal
from kimi_tui.agent.travel.moves import moved
from kimi_tui.agent.travel.preview import preview
from kimi_tui.context import Switch
from kimi_tui.protocol.commands import (
    ClearContext,
    PreviewFile,
    PreviewRevert,
    Redo,
    RestoreRotation,
    RevertTo,
    Undo,
)
from kimi_tui.protocol.events import FilePreviewed, Noticed, RevertPreviewed

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk


async def preview_revert(agent: Agent, command: PreviewRevert) -> None:
    """What would go, and what would become of the files."""
    view = await asyncio.to_thread(preview, agent.desk, command)
    goal = await find_goal(agent.desk, command.checkpoint, command.file, command.offset)
    agent.emit(RevertPreviewed(await with_files(agent.desk, view, goal)))


async def preview_file(agent: Agent, command: PreviewFile) -> None:
    """What would become of one file."""
    goal = await find_goal(agent.desk, command.checkpoint, command.file, command.offset)
    agent.emit(FilePreviewed(command.path, await agent.desk.files.diff(goal.passages, command.path)))


async def revert_to(agent: Agent, command: RevertTo) -> None:
    """Go back to right before a step; a turn goes with its prompt, which comes back into the input."""
    desk = agent.desk
    goal = await find_goal(desk, command.checkpoint, command.file, command.offset)
    note = carried_over(command.note, desk.clock())
    until = goal.mark.ref if goal.mark is not None else None

    async def switch() -> Switch:
        if goal.file is not None:
            return await desk.context.go_to(goal.file, until=until, why="restore", messages=note, note=command.note)
        return await desk.context.rewrite("revert", keep_until=until, messages=note, note=command.note)

    async def jump() -> bool:
        return command.files != "only" and await _jump(desk, switch(), goal.taken_back)

    if command.files == "keep":
        await land(jump())
    else:
        move = Move("only" if command.files == "only" else "revert", goal.passages)
        await land(travel_and_tell(desk, move, jump, command.overwrite))


async def undo(agent: Agent, command: Undo) -> None:
    """Take back the last switch, whatever made it, or the last time that files alone were put back."""
    desk = agent.desk
    move = undo_move(desk.context, desk.files)
    if move is None:
        agent.emit(Noticed("there is nothing to undo"))
    else:
        await land(travel_and_tell(desk, move, lambda: _jump(desk, desk.context.undo())))


async def redo(agent: Agent, command: Redo) -> None:
    desk = agent.desk
    move = redo_move(desk.context, desk.files)
    if move is None:
        agent.emit(Noticed("there is nothing to redo"))
    else:
        await land(travel_and_tell(desk, move, lambda: _jump(desk, desk.context.redo())))


async def restore_rotation(agent: Agent, command: RestoreRotation) -> None:
    """Make a file that was left behind the live one; the present one becomes a rotation."""
    await land(_jump(agent.desk, agent.desk.context.go_to(command.file, why="restore")))


async def clear_context(agent: Agent, command: ClearContext) -> None:
    """Start with an empty memory; what it held is a rotation."""
    desk = agent.desk
    if not desk.context.history:
        agent.emit(Noticed("there is nothing to clear"))
        return

    async def switch() -> Switch:
        return await desk.context.rewrite("clear", keep_until=None, system_prompt=desk.system_prompt)

    await land(_jump(desk, switch()))


async def _jump(desk: Desk, switching: Coroutine[Any, Any, Switch | None], taken_back: str | None = None) -> bool:
    """Switch, then tell. False when there was nowhere to go."""
    plans = await asyncio.to_thread(plan_calls, desk.context.history)
    switch = await switching
    if switch is None:
        return False
    await follow(desk, plans)
    desk.telemetry.note(switch.why, before=switch.tokens[0], after=switch.tokens[1])
    await moved(desk, switch, taken_back)
    return True
