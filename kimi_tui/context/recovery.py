"""What a crash in the middle of a switch leaves behind, and how it goes away. Needs the lock."""

from __future__ import annotations

import contextlib
from pathlib import Path

from kimi_tui.context.disk import Disk
from kimi_tui.context.log import Log
from kimi_tui.context.packed import open_rotation, unpack
from kimi_tui.context.paths import Listing, Paths
from kimi_tui.context.projection import Problem
from kimi_tui.context.timeline import Timeline


def clean_up(listing: Listing, disk: Disk) -> Listing:
    """Removes unfinished files, and rotations that are still the live file (the switch did not happen).

    What lies in the folder afterwards."""
    stray, packed = listing.stray(), listing.packed()
    for unfinished in stray:
        with contextlib.suppress(OSError):
            disk.unlink(unfinished)
    dropped = _drop_second_names(listing, disk)
    for each in packed:
        _drop_half_packed(each, disk)
    return listing.paths.listed() if stray or packed or dropped else listing


def _drop_half_packed(packed: Path, disk: Disk) -> None:
    """A compression that was broken off left both forms. The plain one counts; the other is only removed when it says
    the same, for another program may have taken the number."""
    plain = packed.with_suffix("")
    with contextlib.suppress(OSError):
        if plain.stat().st_size and plain.read_bytes() == unpack(packed):
            disk.unlink(packed)


def _drop_second_names(listing: Listing, disk: Disk) -> bool:
    """Whether there were any."""
    live = listing.paths.live
    try:
        if live.stat().st_nlink < 2:
            return False
    except OSError:
        return False
    for number in listing.numbers():
        rotation = listing.paths.rotation(number)
        with contextlib.suppress(OSError):
            if rotation.samefile(live):
                disk.unlink(rotation)
    return True


def lost(paths: Paths, timeline: Timeline) -> Path | None:
    """The newest rotation, when the live file is gone or empty though nobody emptied it.

    kimi-cli leaves a session like that when it is killed in a revert or a compaction. Raises `OSError`."""
    missing = not paths.live.exists()
    if not missing and (paths.live.stat().st_size or _was_emptied(timeline)):
        return None
    return next((path for path in _newest_first(paths) if _size(path)), None)


def bring_back(newest: Path, log: Log, disk: Disk, timeline: Timeline) -> Problem:
    """It takes the live file's place. Raises `OSError`."""
    live = log.paths.live
    what = "empty" if live.exists() else "missing"
    if timeline.last and timeline.last.why == "foreign" and timeline.last.file == newest.name and newest.stat().st_size:
        disk.replace(newest, live)  # the other program's rename, taken back
    else:
        with open_rotation(newest) as file:
            log.switch([file.read()], keep_old=False, announce=lambda rotation: None)
    return Problem(
        live.name, f"The file was {what} after a crash; {newest.name} was put in its place.", kind="recovered"
    )


def not_brought_back(newest: Path, live: Path) -> Problem:
    """For a session that is not ours to mend."""
    what = f"The conversation is in {newest.name}, which a crash left without a live file; here it cannot be put back."
    return Problem(live.name, what, kind="disk")


def _newest_first(paths: Paths) -> list[Path]:
    return [paths.rotation(number) for number in reversed(paths.numbers())]


def _size(path: Path) -> int:
    with contextlib.suppress(OSError), open_rotation(path) as file:
        return len(file.read(1))
    return 0


def _was_emptied(timeline: Timeline) -> bool:
    """The last switch made an empty timeline on purpose."""
    last = timeline.last
    return last is not None and last.why != "foreign" and last.messages[1] == 0
