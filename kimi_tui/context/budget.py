"""What a session may keep of its rotations, and what would have to go: a dry run that touches nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from kimi_tui.context.adoption import build_timeline
from kimi_tui.context.packed import packed_size
from kimi_tui.context.rotations import Rotation, rotations_in
from kimi_tui.context.store import Store
from kimi_tui.context.timeline import Timeline

Change = Literal["compress", "delete"]
Step = Literal["", "undo", "redo"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The newest rotations, pinned ones and what the next undo or redo goes to are never touched."""

    rotations: int = 20
    size: int = 200 << 20
    """Bytes on the disk, of all rotations together."""
    compress_after: int = 5
    """So many of the newest stay uncompressed."""
    untouched: int = 3


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that the budget asks for."""

    change: Change
    rotation: Rotation
    frees: int = 0
    """Bytes; about, where something is compressed."""
    step: Step = ""
    """Whether undo or redo could go there, and no more once it is deleted."""

    @property
    def file(self) -> str:
        return self.rotation.file

    @property
    def size(self) -> int:
        """Bytes on the disk before it."""
        return self.rotation.size


@dataclass(frozen=True, slots=True)
class Pruning:
    """How a session stands against its budget."""

    rotations: int
    size: int
    """Bytes on the disk, of all rotations together."""
    over: bool
    proposals: Sequence[Proposal]
    """Oldest first. Old rotations are to be compressed also while the budget is kept."""


def plan(
    rotations: Sequence[Rotation], budget: Budget, timeline: Timeline, frees: Callable[[Rotation], int]
) -> list[Proposal]:
    """What the budget asks for, oldest first. `rotations` come newest first; `frees` tells what compressing one saves.

    Compressing comes first: only what is too much after that is deleted."""
    next_ones = {*timeline.undo[-1:], *timeline.redo[-1:]}
    free = [each for each in rotations[budget.untouched :] if not each.pinned and each.node.id not in next_ones]
    surplus = max(0, len(rotations) - budget.rotations)
    doomed = [each.file for each in reversed(free)][:surplus]
    saved = {each.file: frees(each) for each in _idle(rotations, free, budget) if each.file not in doomed}
    size = sum(each.size for each in rotations if each.file not in doomed) - sum(saved.values())
    for each in reversed(free):
        if size > budget.size and each.file not in doomed:
            size -= each.size - saved.pop(each.file, 0)
            doomed.append(each.file)
    return [
        _proposal(each, each.file in doomed, saved, timeline) for each in reversed(free) if _asked(each, doomed, saved)
    ]


def _idle(rotations: Sequence[Rotation], free: Sequence[Rotation], budget: Budget) -> list[Rotation]:
    """Those that are old enough to be compressed."""
    old = rotations[max(budget.compress_after, budget.untouched) :]
    return [each for each in old if each in free and not each.compressed and each.size]


def _asked(rotation: Rotation, doomed: Sequence[str], saved: dict[str, int]) -> bool:
    return rotation.file in doomed or saved.get(rotation.file, 0) > 0


def _proposal(rotation: Rotation, doomed: bool, saved: dict[str, int], timeline: Timeline) -> Proposal:
    if not doomed:
        return Proposal("compress", rotation, saved[rotation.file])
    node = rotation.node.id
    step: Step = "undo" if node in timeline.undo else "redo" if node in timeline.redo else ""
    return Proposal("delete", rotation, rotation.size, step)


def pruning(store: Store, budget: Budget) -> Pruning:
    """The dry run for a session. Blocking. Raises `OSError`."""
    timeline = build_timeline(store.paths.listed(), store.journal.read())
    rotations = rotations_in(store.paths, timeline)
    size = sum(each.size for each in rotations)
    return Pruning(
        rotations=len(rotations),
        size=size,
        over=len(rotations) > budget.rotations or size > budget.size,
        proposals=plan(rotations, budget, timeline, _frees),
    )


def _frees(rotation: Rotation) -> int:
    with contextlib.suppress(OSError):
        return max(0, rotation.size - packed_size(rotation.path))
    return 0
