"""The files that switches left behind: listed, read and compared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.context.adoption import build_timeline
from kimi_tui.context.disk import Disk
from kimi_tui.context.journal import Journal
from kimi_tui.context.packed import packed_path
from kimi_tui.context.paths import Paths
from kimi_tui.context.projection import CheckpointRef, Projection
from kimi_tui.context.reading import read_file
from kimi_tui.context.timeline import Node, Switch, Timeline
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import SwitchWhy


@dataclass(frozen=True, slots=True)
class Rotation:
    """One rotated file."""

    file: str
    path: Path
    """Where its bytes are: `context_3.jsonl`, or its compressed form."""
    node: Node
    left: Switch | None
    """The switch that left it behind."""
    size: int
    """Bytes on the disk."""
    unique: int
    """Bytes of its records that it does not share with the timeline it came from."""
    messages: int
    checkpoints: int
    tokens: int
    counted: bool = True
    """Whether a model's count is part of the tokens (see `Switch.counted`)."""
    pinned: bool = False

    @property
    def why(self) -> SwitchWhy | None:
        return self.left.why if self.left else None

    @property
    def at(self) -> float | None:
        return self.left.at if self.left else None

    @property
    def compressed(self) -> bool:
        return self.path.name != self.file


async def list_rotations(file_backend: Path) -> list[Rotation]:
    """Newest first. Files that another program left behind are counted by reading them, in a worker thread."""
    return await asyncio.to_thread(rotations_of, file_backend)


def rotations_of(file_backend: Path) -> list[Rotation]:
    """The same, blocking. Raises `OSError` when the folder cannot be read."""
    paths = Paths.of(file_backend)
    return rotations_in(paths, build_timeline(paths.listed(), Journal(paths, Disk()).read()))


def rotations_in(paths: Paths, timeline: Timeline) -> list[Rotation]:
    """The same for a timeline that is known already."""
    left = {switch.left: switch for switch in timeline.switches}
    nodes = [node for node in timeline.nodes if not node.live]
    found = [_rotation(paths, timeline, node, left.get(node.id)) for node in nodes]
    return sorted(found, key=lambda rotation: paths.number(rotation.file) or 0, reverse=True)


def _rotation(paths: Paths, timeline: Timeline, node: Node, left: Switch | None) -> Rotation:
    plain = paths.folder / node.file
    path = packed_path(plain) or plain
    size = left.size if left and left.size else plain.stat().st_size
    messages, checkpoints, tokens, counted = _counts(plain, left)
    return Rotation(
        file=node.file,
        path=path,
        node=node,
        left=left,
        size=path.stat().st_size,
        unique=max(0, size - _inherited(timeline, node)),
        messages=messages,
        checkpoints=checkpoints,
        tokens=tokens,
        counted=counted,
        pinned=node.file in timeline.pinned,
    )


def _counts(path: Path, left: Switch | None) -> tuple[int, int, int, bool]:
    """Messages, checkpoints and tokens of the file when it was left, and whether a model had counted them."""
    if left is not None and left.why != "foreign":
        checkpoints = 0 if left.last_checkpoint is None else left.last_checkpoint + 1
        return left.messages[0], checkpoints, left.tokens[0], left.counted[0]
    try:
        projection, _ = read_file(path)
    except OSError:
        return 0, 0, 0, True
    return len(projection.history), len(projection.checkpoints), projection.tokens, projection.counted


def _inherited(timeline: Timeline, node: Node) -> int:
    """Bytes that the timeline started with because another one had them."""
    if node.birth is None or node.parent is None:
        return 0
    if node.birth.offset is not None:
        return node.birth.offset
    source = next((switch for switch in timeline.switches if switch.left == node.parent), None)
    return source.size if source else 0


async def read_timeline_file(path: Path) -> Projection:
    """Messages, checkpoints and counts of a context file, live or rotated, compressed or not. Raises `OSError`."""
    projection, _ = await asyncio.to_thread(read_file, path)
    return projection


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two timelines: what they share at their beginning, and what only one of them has after that."""

    common: int
    """Messages."""
    only_left: Sequence[Message]
    only_right: Sequence[Message]
    tokens: int
    """How many more the right one has; negative when it has fewer."""
    counted: tuple[bool, bool] = (True, True)
    """Whether a model has counted either side (see `Switch.counted`)."""


def compare(
    left: Projection,
    right: Projection,
    *,
    left_until: CheckpointRef | None = None,
    right_until: CheckpointRef | None = None,
) -> Comparison:
    """With a checkpoint, a side counts only as far as that. Raises `ValueError` for an unknown checkpoint."""
    left_stop, left_tokens, left_counted = _extent(left, left_until)
    right_stop, right_tokens, right_counted = _extent(right, right_until)
    common, least = 0, min(left_stop, right_stop)
    while common < least and left.history[common] == right.history[common]:
        common += 1
    return Comparison(
        common=common,
        only_left=left.history[common:left_stop],
        only_right=right.history[common:right_stop],
        tokens=right_tokens - left_tokens,
        counted=(left_counted, right_counted),
    )


def _extent(projection: Projection, until: CheckpointRef | None) -> tuple[int, int, bool]:
    if until is None:
        return len(projection.history), projection.tokens, projection.counted
    mark = projection.find(until)
    return mark.history_index, mark.tokens, mark.counted
