"""The steps of a file that a jump left behind, as rows of the timeline, made of its conversation.

The sidebar gets them when a branch is unfolded: reading every rotation beforehand would cost what the user may never
look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kimi_tui.protocol.views import Entry, SwitchView, TimelineRow
from kimi_tui.ui.text import one_line

UNKNOWN = -1
"""Stands for an offset that is not known: the id alone names the point."""

LABEL = 80
"""Characters of a label, at most."""


def offset_of(row: TimelineRow) -> int | None:
    """Where the checkpoint lies, as commands want it."""
    return None if row.offset == UNKNOWN else row.offset


def own_from(switch: SwitchView | None) -> int:
    """The first checkpoint that the file does not share with the timeline that took its place."""
    if switch is not None and switch.why in ("revert", "dmail") and switch.to_checkpoint is not None:
        return switch.to_checkpoint
    return 0


def branch_rows(file: str, entries: Sequence[Entry], since: int = 0) -> tuple[TimelineRow, ...]:
    """One row for each checkpoint from `since` on, newest first."""
    return tuple(reversed([row for row in _rows(file, entries) if (row.checkpoint or 0) >= since]))


def _rows(file: str, entries: Sequence[Entry]) -> Iterator[TimelineRow]:
    for checkpoint, step in _steps(entries):
        turn = next((entry for entry in step if entry.kind == "user" and entry.turn), None)
        yield TimelineRow(
            "checkpoint",
            checkpoint=checkpoint,
            file=file,
            label=one_line(turn.text if turn else _did(step))[:LABEL],
            turn=turn is not None,
            messages=len(step),
            at=next((entry.at for entry in step if entry.at is not None), None),
            depth=1,
            offset=UNKNOWN,
        )


def _steps(entries: Sequence[Entry]) -> Iterator[tuple[int, list[Entry]]]:
    """Entries from one checkpoint to the next."""
    number: int | None = None
    step: list[Entry] = []
    for entry in entries:
        if entry.checkpoint is not None and entry.checkpoint != number:
            if number is not None:
                yield number, step
            number, step = entry.checkpoint, []
        step.append(entry)
    if number is not None:
        yield number, step


def _did(step: Sequence[Entry]) -> str:
    """What the step is named after: its last tool, else what was said."""
    tools = [entry.tool for entry in step if entry.tool is not None]
    if tools:
        return f"{tools[-1].verb.lower()} {tools[-1].subject}"
    return next((entry.text for entry in step if entry.kind == "assistant" and entry.text), "answered")
