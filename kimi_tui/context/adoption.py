"""The tree of a session's timelines, from its journal and from what lies in its folder.

Rotations that the journal does not know were made by another program (or the journal was lost). Each file was live
until the next number's file was; what the two share at their beginning tells where they parted.
"""

from __future__ import annotations

from pathlib import Path

from kimi_tui.context.journal import Told, described
from kimi_tui.context.packed import open_rotation, packed_path
from kimi_tui.context.paths import Listing, Paths
from kimi_tui.context.records import Checkpoint, parse
from kimi_tui.context.timeline import Switch, Timeline

_BLOCK = 1 << 20


def build_timeline(listing: Listing, told: Told) -> Timeline:
    """From what lies in the folder and what the journal says. Raises `OSError`."""
    paths = listing.paths
    timeline = Timeline(paths.live.name)
    present = {paths.rotation(number).name: number for number in listing.numbers()}
    known = {switch.file: switch for switch in told.switches}
    numbers = {file: paths.number(file) or 0 for file in known} | present
    in_order = sorted(numbers, key=lambda file: numbers[file])
    for position, file in enumerate(in_order):
        switch = known.get(file)
        if switch is None:
            if _holds_nothing(paths.folder / file):
                continue
            following = in_order[position + 1] if position + 1 < len(in_order) else paths.live.name
            switch = _adopted(paths, file, following, timeline.live_id)
        timeline = timeline.after(switch)
    return described(timeline, told).without(frozenset(known) - frozenset(present))


def _holds_nothing(path: Path) -> bool:
    """A number that another program took and then did not use."""
    return packed_path(path) is None and not path.stat().st_size


def _adopted(paths: Paths, file: str, following: str, live_id: str) -> Switch:
    old, new = paths.folder / file, paths.folder / following
    shared = _shared_lines(old, new)
    status = old.stat()
    return Switch(
        id=f"{file}+",
        parent=live_id if shared else None,
        left=live_id,
        file=file,
        why="foreign",
        at=status.st_mtime,
        checkpoint=_checkpoint_at(old, shared),
        offset=shared or None,
        size=status.st_size,
    )


def _shared_lines(one: Path, other: Path) -> int:
    """Length of the longest common beginning, in bytes, whole lines only."""
    shared = 0
    line_end = 0
    try:
        with open_rotation(one) as left, open_rotation(other) as right:
            while True:
                a, b = left.read(_BLOCK), right.read(_BLOCK)
                same = len(a) if a == b else _first_difference(a, b)
                newline = a.rfind(b"\n", 0, same)
                line_end = shared + newline + 1 if newline >= 0 else line_end
                shared += same
                if same < _BLOCK:
                    return line_end
    except OSError:
        return 0


def _first_difference(a: bytes, b: bytes) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _checkpoint_at(path: Path, offset: int) -> int | None:
    """The id of the checkpoint record that starts there."""
    try:
        with open_rotation(path) as file:
            file.seek(offset)
            record = parse(file.readline())
    except OSError:
        return None
    return record.id if isinstance(record, Checkpoint) else None
