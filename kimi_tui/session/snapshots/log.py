"""`snapshots.jsonl` in the session's folder: when the files changed by our hand, and the snapshots on either side.

It tells one story in the order of real time, whatever the conversation did meanwhile: steps of the agent, and restores.
So the way back to any moment is to take back all passages since then, those of erased timelines and earlier restores
too. Moments are checkpoints, told apart by their number and the time stamped into their record, which both go along
when a timeline is copied.

A passage has a line when it begins and one when it ends; what a later line says about the same `n` adds to the earlier.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from kimi_tui.session.snapshots.restore import Stretch

NAME = "snapshots.jsonl"

Why = Literal["step", "revert", "dmail", "undo", "redo", "only", "only_undone"]
"""`only`: the files went back, the conversation stayed."""


class Passage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stretch of time in which we changed files."""

    n: int = 0
    """Its number; given when it is written down."""
    why: Why = "step"
    at: float = 0.0
    """When it began, in seconds since the epoch."""
    checkpoint: int | None = None
    """The newest checkpoint then, and when that was set."""
    made: float | None = None
    before: str = ""
    """Ids of snapshots; `after` is empty until it has ended."""
    after: str = ""
    left: str = ""
    """For a restore that went with a switch: the timeline that was left."""
    of: int | None = None
    """The passage that this one took back."""
    live: str = ""
    """For a restore: the timeline that was live when it began."""

    @property
    def moment(self) -> float:
        return self.made if self.made is not None else self.at


class SnapshotLog:
    """The file and what it says. One writer: whoever holds the session's lock."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._known: dict[int, Passage] | None = None

    def load(self) -> None:
        """Read the file, in a worker, before the first question; else that happens then."""
        self._loaded()

    @property
    def passages(self) -> list[Passage]:
        """Oldest first. Lines that cannot be read are passed over."""
        return list(self._loaded().values())

    @property
    def last(self) -> Passage | None:
        """The newest one."""
        known = self._loaded()
        return known[next(reversed(known))] if known else None

    def begin(self, passage: Passage) -> Passage:
        """Write down that it begins; it gets its number here. Raises OSError."""
        known = self._loaded()
        passage = msgspec.structs.replace(passage, n=max(known, default=0) + 1)
        _append(self._path, passage)
        known[passage.n] = passage
        return passage

    def add(self, n: int, *, after: str = "", left: str = "") -> None:
        """Write down more about a passage. Raises OSError."""
        more = Passage(n=n, after=after, left=left)
        _append(self._path, more)
        known = self._loaded()
        known[n] = _merged(known[n], more)

    def since(self, checkpoint: int, made: float | None) -> list[Passage]:
        """All passages after a checkpoint was set."""
        return self._from(
            lambda each: made is None or each.moment > made or (each.checkpoint, each.made) == (checkpoint, made)
        )

    def since_left(self, timeline: str, at: float) -> list[Passage]:
        """All passages after a timeline was left, at that time; a restore that went with it is the first."""
        return self._from(lambda each: each.left == timeline or each.moment > at)

    def left(self, timeline: str) -> Passage | None:
        """The restore that went with leaving this timeline."""
        return next((passage for passage in self.passages if passage.left == timeline), None)

    @property
    def alone(self) -> list[Passage]:
        """Restores that went with no jump, and what took such back; oldest first. One whose jump was cut off (the
        program was killed) is among them: only the files have moved."""
        return [passage for passage in self.passages if passage.why != "step" and not passage.left]

    def _from(self, begins: Callable[[Passage], bool]) -> list[Passage]:
        passages = self.passages
        first = next((position for position, each in enumerate(passages) if begins(each)), len(passages))
        return passages[first:]

    def _loaded(self) -> dict[int, Passage]:
        if self._known is None:
            self._known = _read(self._path)
        return self._known


def stretches(passages: Sequence[Passage]) -> list[Stretch]:
    """As they are to be taken back. One that never ended (the program was killed) lasts until the next begins."""
    found = []
    for position, passage in enumerate(passages):
        following = passages[position + 1].before if position + 1 < len(passages) else ""
        if after := passage.after or following:
            found.append(Stretch(passage.before, after))
    return found


def _read(path: Path) -> dict[int, Passage]:
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    found: dict[int, Passage] = {}
    for line in data.split(b"\n"):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            passage = msgspec.json.decode(line, type=Passage)
            if passage.n in found:
                found[passage.n] = _merged(found[passage.n], passage)
            elif passage.before:
                found[passage.n] = passage
    return found


def _merged(known: Passage, more: Passage) -> Passage:
    return msgspec.structs.replace(known, after=more.after or known.after, left=more.left or known.left)


def _append(path: Path, passage: Passage) -> None:
    """One write; a line that a crash left torn is closed first."""
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        torn = size > 0 and file.read(1) != b"\n"
        file.write(b"\n" * torn + msgspec.json.encode(passage) + b"\n")
