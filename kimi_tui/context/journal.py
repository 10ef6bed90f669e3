"""`timeline.jsonl`: why and when each rotation arose, the user's names and pins. One line an entry, appended.

A switch has two lines, one before it happens (`begin`) and one after (`done`). The file only describes: what
happened is told by the context files themselves, and losing it loses labels, no messages.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import msgspec

from kimi_tui.context.disk import Disk, read_at
from kimi_tui.context.packed import packed_path
from kimi_tui.context.paths import Paths
from kimi_tui.context.timeline import Switch, Timeline


class Label(msgspec.Struct, frozen=True):
    """A name that the user gave a checkpoint; empty takes it away."""

    timeline: str
    checkpoint: int
    name: str


class Pin(msgspec.Struct, frozen=True):
    file: str
    on: bool


class Entry(msgspec.Struct, omit_defaults=True):
    """One line; exactly one field is set."""

    begin: Switch | None = None
    done: str | None = None
    label: Label | None = None
    pin: Pin | None = None
    pruned: str | None = None
    """A rotation that was removed by a policy or by the user."""


_decode = msgspec.json.Decoder(Entry).decode


@dataclass(frozen=True, slots=True)
class Told:
    """All that the journal says."""

    switches: tuple[Switch, ...] = ()
    labels: tuple[Label, ...] = ()
    pins: tuple[Pin, ...] = ()
    pruned: frozenset[str] = frozenset()
    unfinished: tuple[str, ...] = ()
    """Switches that happened, as the files tell, and whose `done` line is missing."""


class Journal:
    def __init__(self, paths: Paths, disk: Disk, *, durable: bool = True) -> None:
        self._paths = paths
        self._disk = disk
        self._durable = durable
        self._owed: list[str] = []
        """Ids whose `done` line the disk has refused so far."""

    def begin(self, switch: Switch) -> None:
        """Raises `OSError`: a switch that cannot be told of could not be undone either, so it does not happen.

        That a session was emptied on purpose must survive a power cut, or the next start would bring it back."""
        self.write(Entry(begin=switch), sync=self._durable and switch.messages[1] == 0)

    def done(self, switches: Iterable[str]) -> None:
        """By id. What the disk refuses now is written with the next entry: until then the files tell it too, but they
        do so no more once the rotation is compressed or moved."""
        self._owed += switches
        with contextlib.suppress(OSError):
            self._append([])

    def write(self, entry: Entry, *, sync: bool = False) -> None:
        """Raises `OSError`."""
        self._append([entry], sync=sync)

    def _append(self, entries: Sequence[Entry], *, sync: bool = False) -> None:
        entries = [*(Entry(done=switch) for switch in self._owed), *entries]
        data = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        fd = self._disk.open(self._paths.timeline, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and read_at(fd, 1, size - 1) != b"\n"
            self._disk.write(fd, b"\n" * torn + data)
            self._owed.clear()
            if sync:
                self._disk.sync(fd)
        finally:
            os.close(fd)

    def read(self) -> Told:
        """Lines that cannot be read are passed over."""
        try:
            data = self._paths.timeline.read_bytes()
        except OSError:
            return Told()
        entries = list(_entries(data))
        begun = {entry.begin.id: entry.begin for entry in entries if entry.begin is not None}
        done = {entry.done for entry in entries if entry.done is not None}
        unfinished = frozenset(self._unfinished(begun, done))
        return Told(
            switches=tuple(switch for switch in begun.values() if switch.id in done | unfinished),
            labels=tuple(entry.label for entry in entries if entry.label is not None),
            pins=tuple(entry.pin for entry in entries if entry.pin is not None),
            pruned=frozenset(entry.pruned for entry in entries if entry.pruned is not None),
            unfinished=tuple(switch for switch in begun if switch in unfinished),
        )

    def _unfinished(self, begun: Mapping[str, Switch], done: Set[str]) -> Iterator[str]:
        """Of several that claim one rotation, the last has made it."""
        last_claim = {switch.file: switch.id for switch in begun.values()}
        for switch in begun.values():
            if switch.id not in done and last_claim[switch.file] == switch.id and self._is_there(switch):
                yield switch.id

    def _is_there(self, switch: Switch) -> bool:
        """Without its `done` line, a switch counts when its rotation is there and is not the live file too."""
        file = self._paths.folder / switch.file
        try:
            rotation = file.stat()
            live = self._paths.live.stat() if self._paths.live.exists() else None
        except OSError:
            return False
        if live is not None and rotation.st_ino == live.st_ino:
            return False
        return rotation.st_size == switch.size or packed_path(file) is not None


def _entries(data: bytes) -> Iterable[Entry]:
    for line in data.split(b"\n"):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            yield _decode(line)


def described(timeline: Timeline, told: Told) -> Timeline:
    """The timeline with the user's names and pins."""
    for label in told.labels:
        timeline = timeline.named(label.timeline, label.checkpoint, label.name)
    for pin in told.pins:
        timeline = timeline.with_pin(pin.file, pin.on)
    return timeline
