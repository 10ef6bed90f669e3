"""Jumps that take the files along: first the files, then the conversation, both taken back by one undo."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kimi_tui.agent.travel.files import Files
from kimi_tui.agent.travel.goals import Goal
from kimi_tui.agent.travel.moves import shown_anew
from kimi_tui.context import Context
from kimi_tui.faults import Fault
from kimi_tui.protocol.events import Noticed
from kimi_tui.protocol.views import RevertPreview
from kimi_tui.session.snapshots import Kept, Passage, RestoreResult, Why

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

log = logging.getLogger(__name__)

_NAMED = 3
"""Files that a notice names."""


async def with_files(desk: Desk, preview: RevertPreview, goal: Goal) -> RevertPreview:
    """The preview with what snapshots tell of the files; without them it stays as it is."""
    if not goal.passages:
        return preview
    try:
        touched = await desk.files.touched(goal.passages)
        known = {file.path for file in touched}
        others = [file.path for file in preview.files if file.path not in known]
        return replace(preview, files=(*touched, *await desk.files.unreachable(others)), restorable=True)
    except (Fault, OSError) as fault:
        log.warning("the files of that point are not known: %s", fault)
        return preview


@dataclass(frozen=True, slots=True)
class Move:
    """What a jump does with the files."""

    why: Why
    passages: Sequence[Passage] | None = None
    """Those to take back; None: the files stay."""
    of: int | None = None
    """The one restore of files alone that is taken back: the conversation stays."""

    @property
    def insists(self) -> bool:
        """The user asks for the files: when they cannot be put back, nothing happens. Others go on without them."""
        return self.why in ("revert", "only", "only_undone")


@dataclass(frozen=True, slots=True)
class Travelled:
    jumped: bool
    """The conversation has moved."""
    files: RestoreResult | None
    why_not: str = ""
    """What the files stayed for, where that was not meant."""


def undo_move(context: Context, files: Files) -> Move | None:
    """What taking back the last jump means, or the last time that files alone were put back; None: nothing to undo."""
    alone, target = files.undoing(context.timeline).next_undo, context.undo_target()
    if alone is not None:
        return Move("only_undone", [alone], of=alone.n)
    return None if target is None else Move("undo", files.moved_with(target.id))


def redo_move(context: Context, files: Files) -> Move | None:
    moves, target = files.undoing(context.timeline), context.redo_target()
    if moves.next_redo is not None:
        return Move("only", [moves.next_redo], of=moves.next_redo.n)
    return None if target is None or not moves.redo else Move("redo", files.moved_with(target.id))


async def travel(
    context: Context,
    files: Files,
    move: Move,
    jump: Callable[[], Awaitable[bool]],
    overwrite: Sequence[str] = (),
) -> Travelled:
    """Take the passages back, then jump (or not, when the files alone are meant). Raises Fault, OSError with nothing
    changed when the move insists."""
    left, made, why_not = context.timeline.live_id, None, ""
    try:
        if move.passages is not None:
            made = await files.take_back(move.passages, move.why, live=left, overwrite=overwrite, of=move.of)
            why_not = "they are not recorded here" if made is None and move.insists else ""
    except (Fault, OSError) as fault:
        if move.insists:
            raise
        why_not = str(fault)
    jumped = move.of is None and await jump()
    if jumped and made is not None:
        await files.went_with(made[0], left)
    return Travelled(jumped, made[1] if made is not None else None, why_not)


async def travel_and_tell(
    desk: Desk, move: Move, jump: Callable[[], Awaitable[bool]], overwrite: Sequence[str] = ()
) -> None:
    """The same for the screen."""
    done = await travel(desk.context, desk.files, move, jump, overwrite)
    if not done.jumped:
        await shown_anew(desk)
    if done.files is not None:
        report(desk, done.files)
    elif done.why_not:
        desk.emit(Noticed(f"the files stay as they are: {done.why_not}", "warning"))


def report(desk: Desk, result: RestoreResult) -> None:
    """Say what became of the files."""
    left_alone = (*result.conflicts, *result.failed)
    done = [
        f"{len(paths)} {word}" for paths, word in ((result.written, "put back"), (result.removed, "removed")) if paths
    ]
    text = f"files: {', '.join(done) or 'nothing to put back'}"
    if left_alone:
        text += f"; left as they are: {_named(left_alone)}"
    desk.emit(Noticed(text, "warning" if left_alone else "information"))


def _named(kept: Sequence[Kept]) -> str:
    names = ", ".join(f"{each.path} ({each.why})" for each in kept[:_NAMED])
    more = len(kept) - _NAMED
    return f"{names} and {more} more" if more > 0 else names
