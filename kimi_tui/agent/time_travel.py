"""Commands that move time: back to a checkpoint, undo and redo, a rotation made live, clearing, compacting."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from kimi_tui.agent.compact import Compaction
from kimi_tui.agent.derived import follow, plan_calls
from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import is_prompt, said
from kimi_tui.agent.moves import moved
from kimi_tui.agent.preview import preview
from kimi_tui.agent.rows import mark_named, rotation_path
from kimi_tui.agent.spans import owner
from kimi_tui.context import CheckpointMark, CheckpointRef, Switch, read_timeline_file
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.commands import (
    ClearContext,
    Compact,
    PreviewRevert,
    Redo,
    RestoreRotation,
    RevertTo,
    Undo,
)
from kimi_tui.protocol.events import Noticed, RevertPreviewed
from kimi_tui.protocol.messages import Message
from kimi_tui.resources import prompt

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk


async def preview_revert(agent: Agent, command: PreviewRevert) -> None:
    agent.emit(RevertPreviewed(await asyncio.to_thread(preview, agent.desk, command)))


async def revert_to(agent: Agent, command: RevertTo) -> None:
    """Go back to right before a step; a turn goes with its prompt, which comes back into the input."""
    desk = agent.desk
    if command.files != "keep":
        agent.emit(Noticed("files on disk stay as they are: there is no snapshot of them", "warning"))
    if command.files == "only":
        return
    if command.file and command.file != desk.context.file_backend.name:
        await _revert_into(desk, command)
        return
    if command.checkpoint is None:
        raise ValueError("Which checkpoint? None was named.")
    mark = row_mark(desk, command.checkpoint, command.offset)
    taken_back = prompt_after(desk.context.history, mark)
    note = [_note(desk, command.note)] if command.note.strip() else []

    async def switch() -> Switch:
        return await desk.context.rewrite("revert", keep_until=mark.ref, messages=note, note=command.note)

    await land(_jump(desk, switch(), taken_back))


async def undo(agent: Agent, command: Undo) -> None:
    """Take back the last switch, whatever made it."""
    if not await land(_jump(agent.desk, agent.desk.context.undo())):
        agent.emit(Noticed("there is nothing to undo"))


async def redo(agent: Agent, command: Redo) -> None:
    if not await land(_jump(agent.desk, agent.desk.context.redo())):
        agent.emit(Noticed("there is nothing to redo"))


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


async def compact(agent: Agent, command: Compact) -> None:
    """Fold the context now. Faults are told by `CompactionEnded`."""
    if not agent.readiness.ready:
        agent.emit(Noticed("the model is not ready yet", "warning"))
        return
    try:
        await Compaction(agent.desk, "manual", command.focus.strip()).run()
    except ModelFault as fault:
        agent.emit(Noticed(f"not compacted: {fault} {fault.hint}".strip(), "error"))


def row_mark(desk: Desk, checkpoint: int, offset: int | None) -> CheckpointMark:
    """The checkpoint at which the row of that checkpoint begins. Raises ValueError."""
    context = desk.context
    mark = mark_named(context, checkpoint, offset)
    return context.checkpoints[owner(context.history, context.checkpoints, context.checkpoints.index(mark))]


def prompt_after(history: Sequence[Message], mark: CheckpointMark) -> str | None:
    """What the user said right after that checkpoint, to be put back into the input."""
    following = (history[index] for index in range(mark.history_index, len(history)))
    first = next((message for message in following if message.role == "assistant" or is_prompt(message)), None)
    return said(first) if first is not None and first.role == "user" else None


async def _revert_into(desk: Desk, command: RevertTo) -> None:
    """Go to a point inside a rotation; without a checkpoint, to its end."""
    assert command.file is not None
    until, taken_back = None, None
    if command.checkpoint is not None:
        past = await read_timeline_file(rotation_path(desk, command.file))
        named = past.find(CheckpointRef(command.checkpoint, command.offset))
        mark = past.checkpoints[owner(past.history, past.checkpoints, past.checkpoints.index(named))]
        until, taken_back = mark.ref, prompt_after(past.history, mark)
    going = desk.context.go_to(command.file, until=until, why="restore", note=command.note)
    await land(_jump(desk, going, taken_back))


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


def _note(desk: Desk, text: str) -> Message:
    """The user's word to the earlier point."""
    return Message(role="user", content=f"{prompt('carry_note')}\n{text.strip()}", kt={"at": round(desk.clock(), 3)})
