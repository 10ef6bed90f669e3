"""Where a jump leads: a point of the live timeline or of a rotation, and the files of that moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kimi_tui.agent.marks import is_prompt, said
from kimi_tui.agent.travel.files import Files
from kimi_tui.agent.travel.rows import mark_named, rotation_path
from kimi_tui.agent.travel.spans import owner
from kimi_tui.context import CheckpointMark, CheckpointRef, Context, read_timeline_file
from kimi_tui.protocol.messages import Message
from kimi_tui.session.snapshots import Passage

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk


@dataclass(frozen=True, slots=True)
class Goal:
    file: str | None
    """The rotation; None for the live timeline."""
    mark: CheckpointMark | None
    """Go to right before it; None for the end of the rotation."""
    taken_back: str | None
    """The prompt that comes back into the input."""
    passages: Sequence[Passage]
    """All that has changed files since then."""


async def find_goal(desk: Desk, checkpoint: int | None, file: str | None, offset: int | None) -> Goal:
    """Raises ValueError for a point that does not exist."""
    if file and file != desk.context.file_backend.name:
        return await _in_rotation(desk, checkpoint, file, offset)
    if checkpoint is None:
        raise ValueError("Which checkpoint? None was named.")
    mark = row_mark(desk, checkpoint, offset)
    return Goal(None, mark, prompt_after(desk.context.history, mark), desk.files.since(mark))


async def _in_rotation(desk: Desk, checkpoint: int | None, file: str, offset: int | None) -> Goal:
    if checkpoint is None:
        return Goal(file, None, None, since_rotation(desk.context, desk.files, file))
    past = await read_timeline_file(rotation_path(desk, file))
    named = past.find(CheckpointRef(checkpoint, offset))
    mark = past.checkpoints[owner(past.history, past.checkpoints, past.checkpoints.index(named))]
    return Goal(file, mark, prompt_after(past.history, mark), desk.files.since(mark))


def since_rotation(context: Context, files: Files, file: str) -> Sequence[Passage]:
    """All that has changed files since the timeline in that rotation was left."""
    timeline = context.timeline
    node = timeline.node_of(file)
    left = next((switch for switch in timeline.switches if node is not None and switch.left == node.id), None)
    return [] if left is None else files.since_left(left.left, left.at)


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
