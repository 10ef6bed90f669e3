"""Jumps that take the files along: first the files, then the conversation, both taken back by one undo."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kimi_tui.agent.goals import Goal
from kimi_tui.agent.moves import shown_anew
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


async def jump_with_files(
    desk: Desk,
    jump: Callable[[], Awaitable[bool]],
    passages: Sequence[Passage] | None,
    why: Why,
    overwrite: Sequence[str] = (),
) -> None:
    """Take the passages back (None: the files stay), then jump (or not, when the files alone are meant).

    When the user asks for files and they cannot be put back, nothing happens: raises Fault, OSError. Undo, redo and
    a D-Mail go on without them."""
    left = desk.context.timeline.live_id
    made = None
    try:
        if passages is not None:
            made = await desk.files.take_back(passages, why, overwrite=overwrite)
    except (Fault, OSError) as fault:
        if why in ("revert", "only"):
            raise
        desk.emit(Noticed(f"the files stay as they are: {fault}", "warning"))
    if await jump():
        if made is not None:
            await desk.files.went_with(made[0], left)
    else:
        await shown_anew(desk)
    if made is not None:
        report(desk, made[1])
    elif why in ("only", "revert"):
        desk.emit(Noticed("the files stay as they are: they are not recorded here", "warning"))


async def files_only(desk: Desk, passage: Passage, why: Why) -> None:
    """Take back a restore that left the conversation alone."""
    made = await desk.files.take_back([passage], why, of=passage.n)
    await shown_anew(desk)
    if made is not None:
        report(desk, made[1])


def last_switch(desk: Desk) -> float:
    """When time was moved last, in seconds since the epoch."""
    last = desk.context.timeline.last
    return last.at if last is not None else 0.0


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
