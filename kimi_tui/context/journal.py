"""`timeline.jsonl`: why and when each rotation arose, the user's names and pins. One line an entry, appended.

A switch has two lines, one before it happens (`begin`) and one after (`done`). The file only describes: what
happened is told by the context files themselves, and losing it loses labels, no messages.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from kimi_tui.context.disk import Disk, read_at
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


class Journal:
    def __init__(self, paths: Paths, disk: Disk, *, durable: bool = True) -> None:
        self._paths = paths
        self._disk = disk
        self._durable = durable

    def begin(self, switch: Switch) -> None:
        """Raises `OSError`: a switch that cannot be told of could not be undone either, so it does not happen.

        That a session was emptied on purpose must survive a power cut, or the next start would bring it back."""
        self.write(Entry(begin=switch), sync=self._durable and switch.messages[1] == 0)

    def done(self, switch: Switch) -> None:
        with contextlib.suppress(OSError):  # the files tell it too
            self.write(Entry(done=switch.id))

    def write(self, entry: Entry, *, sync: bool = False) -> None:
        """Raises `OSError`."""
        fd = self._disk.open(self._paths.timeline, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and read_at(fd, 1, size - 1) != b"\n"
            self._disk.write(fd, b"\n" * torn + msgspec.json.encode(entry) + b"\n")
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
        return Told(
            switches=tuple(self._happened(entries)),
            labels=tuple(entry.label for entry in entries if entry.label is not None),
            pins=tuple(entry.pin for entry in entries if entry.pin is not None),
            pruned=frozenset(entry.pruned for entry in entries if entry.pruned is not None),
        )

    def _happened(self, entries: Iterable[Entry]) -> Iterable[Switch]:
        begun: dict[str, Switch] = {}
        done: set[str] = set()
        for entry in entries:
            if entry.begin is not None:
                begun[entry.begin.id] = entry.begin
            if entry.done is not None:
                done.add(entry.done)
        last_claim = {switch.file: switch.id for switch in begun.values()}
        for switch in begun.values():
            if switch.id in done or (last_claim[switch.file] == switch.id and self._is_there(switch)):
                yield switch

    def _is_there(self, switch: Switch) -> bool:
        """Without its `done` line, a switch counts when its rotation is there and is not the live file too."""
        try:
            rotation = (self._paths.folder / switch.file).stat()
            live = self._paths.live.stat() if self._paths.live.exists() else None
        except OSError:
            return False
        return rotation.st_size == switch.size and (live is None or rotation.st_ino != live.st_ino)


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
