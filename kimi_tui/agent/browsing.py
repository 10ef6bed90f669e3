"""Commands that only look: rotations, comparisons, the breakdown of the context, older entries, exports."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.agent.gauge import Scale
from kimi_tui.agent.measure import shares
from kimi_tui.agent.transcript import Transcript, entries_of
from kimi_tui.agent.travel.moves import shown_anew
from kimi_tui.agent.travel.rows import rotation_path, rows_of
from kimi_tui.context import CheckpointRef, Projection, Rotation, compare, list_rotations, read_timeline_file
from kimi_tui.protocol.commands import (
    ChangeRotation,
    CompareTimelines,
    ExportTimeline,
    ListRotations,
    LoadEntries,
    MeasureContext,
    NameCheckpoint,
    ReadRotation,
)
from kimi_tui.protocol.events import (
    ContextMeasured,
    EntriesLoaded,
    Noticed,
    RotationRead,
    RotationsListed,
    TimelinesCompared,
)
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import Entry, RotationView
from kimi_tui.session.export import conversation_of, render
from kimi_tui.session.state import write_atomically
from kimi_tui.sizes import size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk

NOW = "now"
"""The live timeline, where a side of a comparison is named."""


async def list_rotated(agent: Agent, command: ListRotations) -> None:
    rotations = await list_rotations(agent.desk.context.file_backend)
    scale = agent.desk.scale
    agent.emit(RotationsListed(tuple(_view(rotation, scale) for rotation in rotations)))


async def read_rotation(agent: Agent, command: ReadRotation) -> None:
    projection = await read_timeline_file(rotation_path(agent.desk, command.file))
    entries = await asyncio.to_thread(_entries, agent.desk, projection)
    rows = await asyncio.to_thread(rows_of, agent.desk, command.file, projection)
    agent.emit(RotationRead(command.file, entries, rows))


async def change_rotation(agent: Agent, command: ChangeRotation) -> None:
    """Pin, pack or remove a file that was left behind, then list what there is."""
    context = agent.desk.context
    if command.change in ("pin", "unpin"):
        await context.pin(command.file, command.change == "pin")
    elif command.change == "compress":
        agent.emit(Noticed(f"{command.file} is compressed: {size_of(await context.compress(command.file))} freed"))
    else:
        agent.emit(Noticed(f"{command.file} is gone: {size_of(await context.delete(command.file))} freed"))
        await shown_anew(agent.desk)
    await list_rotated(agent, ListRotations())


async def name_checkpoint(agent: Agent, command: NameCheckpoint) -> None:
    """The user's own name for a point in time; an empty one takes it away."""
    await agent.desk.context.name_checkpoint(command.checkpoint, command.name, file=command.file)
    await shown_anew(agent.desk)


async def compare_timelines(agent: Agent, command: CompareTimelines) -> None:
    desk = agent.desk
    left, left_until = await _side(desk, command.left)
    right, right_until = await _side(desk, command.right)

    def found() -> TimelinesCompared:
        result = compare(left, right, left_until=left_until, right_until=right_until)
        only = [_of(desk, messages) for messages in (result.only_left, result.only_right)]
        scale, (one, other) = desk.scale, result.counted
        tokens = result.tokens + scale(0, other) - scale(0, one)
        return TimelinesCompared(command.left, command.right, result.common, only[0], only[1], tokens)

    agent.emit(await asyncio.to_thread(found))


async def measure_context(agent: Agent, command: MeasureContext) -> None:
    measured = await asyncio.to_thread(shares, agent.desk)
    agent.emit(ContextMeasured(measured, agent.desk.tokens()))


def load_entries(agent: Agent, command: LoadEntries) -> None:
    entries = agent.desk.transcript.entries[command.start : command.stop]
    agent.emit(EntriesLoaded(command.start, tuple(entries)))


async def export_timeline(agent: Agent, command: ExportTimeline) -> None:
    """Write a readable copy into the work folder, or where the user says, and tell where it is."""
    desk = agent.desk
    projection = await _projection(desk, command.file or NOW)
    name = f"{desk.session.id}-{(command.file or NOW).removesuffix('.jsonl')}.{command.format}"
    target = desk.session.work_dir / Path(command.target or name).expanduser()

    def write() -> None:
        conversation = conversation_of(
            projection.history,
            title=desk.title,
            source=str(desk.context.file_backend.parent / (command.file or desk.context.file_backend.name)),
            work_dir=str(desk.session.work_dir),
            tokens=projection.tokens,
        )
        write_atomically(target, render(conversation, command.format))

    await asyncio.to_thread(write)
    agent.emit(Noticed(f"written to {target}"))


async def _side(desk: Desk, name: str) -> tuple[Projection, CheckpointRef | None]:
    """`now`, a file, or either with `@N`."""
    file, _, checkpoint = name.partition("@")
    if checkpoint and not checkpoint.isdecimal():
        raise ValueError(f"{checkpoint!r} is no checkpoint")
    return await _projection(desk, file), CheckpointRef(int(checkpoint)) if checkpoint else None


async def _projection(desk: Desk, file: str) -> Projection:
    if file in (NOW, desk.context.file_backend.name):
        return desk.context.projection
    return await read_timeline_file(rotation_path(desk, file))


def _entries(desk: Desk, projection: Projection) -> tuple[Entry, ...]:
    transcript = Transcript(desk.toolset.view)
    transcript.load(projection.history, projection.checkpoints)
    return tuple(transcript.entries)


def _of(desk: Desk, messages: Sequence[Message]) -> tuple[Entry, ...]:
    return entries_of(desk.toolset.view, messages)


def _view(rotation: Rotation, scale: Scale) -> RotationView:
    return RotationView(
        file=rotation.file,
        why=rotation.why,
        at=rotation.at,
        size=rotation.size,
        unique=rotation.unique,
        messages=rotation.messages,
        checkpoints=rotation.checkpoints,
        tokens=scale(rotation.tokens, rotation.counted),
        pinned=rotation.pinned,
        compressed=rotation.compressed,
        note=rotation.left.note if rotation.left else "",
    )
