"""The tree of timelines: which one took another's place, why and when.

`timeline.jsonl` has two lines for each switch, one before it happens (`begin`) and one after (`done`). The file only
describes: what happened is told by the context files themselves, and losing it loses labels, no messages.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from kimi_tui.context.disk import Disk, read_at
from kimi_tui.context.paths import Paths
from kimi_tui.protocol.views import SwitchWhy

ROOT = "root"
"""The timeline that a session starts with."""


class Switch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One timeline took the place of another."""

    id: str
    """Of the timeline that came to be."""
    parent: str | None
    """The timeline whose beginning it took over; None when it took over nothing (clear, compaction)."""
    left: str
    """The timeline that was live until then."""
    file: str
    """The rotation that holds the timeline left behind."""
    why: SwitchWhy
    at: float
    """Seconds since the epoch."""
    checkpoint: int | None = None
    """The new timeline shares everything before this checkpoint with its parent; None: the whole parent, or nothing."""
    offset: int | None = None
    """Where that checkpoint stands in the parent's file, in bytes; None as above."""
    last_checkpoint: int | None = None
    """The newest checkpoint of the timeline left behind."""
    messages: tuple[int, int] = (0, 0)
    """Messages of the timeline left behind, and of the new one at birth."""
    tokens: tuple[int, int] = (0, 0)
    """The same for tokens, pending ones included."""
    size: int = 0
    """Bytes of the file left behind."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One timeline."""

    id: str
    parent: str | None
    file: str
    """The file that holds it; the live file's name for the live one."""
    birth: Switch | None
    """How it came to be; None for the first and for those of other programs."""
    live: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """All timelines of a session. Immutable: a switch makes a new one."""

    live_file: str
    switches: tuple[Switch, ...] = ()
    """Oldest first."""
    undo: tuple[str, ...] = ()
    """Ids of timelines that undo goes back to, the next one last."""
    redo: tuple[str, ...] = ()
    live_id: str = ROOT
    files: dict[str, str] = field(default_factory=dict)
    """Timeline id → the rotation that holds it."""

    @property
    def live(self) -> Node:
        return self.node(self.live_id)

    @property
    def last(self) -> Switch | None:
        return self.switches[-1] if self.switches else None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Oldest first; the live one is the last that came to be."""
        return tuple(self.node(each) for each in dict.fromkeys((*self.files, self.live_id)))

    def node(self, node_id: str) -> Node:
        """Raises `KeyError` for an unknown id."""
        birth = next((switch for switch in reversed(self.switches) if switch.id == node_id), None)
        live = node_id == self.live_id
        file = self.live_file if live else self.files[node_id]
        return Node(node_id, birth.parent if birth else None, file, birth, live)

    def node_of(self, file: str) -> Node | None:
        """The timeline that a file holds."""
        if file == self.live_file:
            return self.live
        found = next((node_id for node_id, name in self.files.items() if name == file), None)
        return None if found is None else self.node(found)

    def after(self, switch: Switch) -> Timeline:
        undo, redo = self.undo, self.redo
        if switch.why == "undo":
            undo, redo = undo[:-1], (*redo, switch.left)
        elif switch.why == "redo":
            undo, redo = (*undo, switch.left), redo[:-1]
        else:
            undo, redo = (*undo, switch.left), ()
        files = self.files | {switch.left: switch.file}
        return Timeline(self.live_file, (*self.switches, switch), undo, redo, switch.id, files)


def new_id(now: float | None = None) -> str:
    """Sorts by time, does not repeat."""
    return f"{int((time.time() if now is None else now) * 1000):012x}{secrets.token_hex(4)}"


class _Line(msgspec.Struct):
    begin: Switch | None = None
    done: str | None = None


_decode = msgspec.json.Decoder(_Line).decode


class Journal:
    """`timeline.jsonl`. A disk that refuses to take a line stops no switch."""

    def __init__(self, paths: Paths, disk: Disk) -> None:
        self._paths = paths
        self._disk = disk

    def begin(self, switch: Switch) -> None:
        self._append(msgspec.json.encode({"begin": switch}))

    def done(self, switch: Switch) -> None:
        self._append(msgspec.json.encode({"done": switch.id}))

    def _append(self, line: bytes) -> None:
        with contextlib.suppress(OSError):
            fd = self._disk.open(self._paths.timeline, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                size = os.fstat(fd).st_size
                torn = size > 0 and read_at(fd, 1, size - 1) != b"\n"
                self._disk.write(fd, b"\n" * torn + line + b"\n")
            finally:
                os.close(fd)

    def read(self) -> list[Switch]:
        """The switches that happened, oldest first. Lines that cannot be read are passed over."""
        try:
            lines = self._paths.timeline.read_bytes().split(b"\n")
        except OSError:
            return []
        return _happened(_read_lines(lines), self._is_there)

    def _is_there(self, switch: Switch) -> bool:
        """Without its `done` line, a switch counts when its rotation is there and is not the live file too."""
        try:
            rotation = (self._paths.folder / switch.file).stat()
        except OSError:
            return False
        try:
            live = self._paths.live.stat()
        except OSError:
            return rotation.st_size == switch.size
        return rotation.st_size == switch.size and rotation.st_ino != live.st_ino


def _read_lines(lines: Sequence[bytes]) -> Iterable[_Line]:
    for line in lines:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            yield _decode(line)


def _happened(lines: Iterable[_Line], is_there: Callable[[Switch], bool]) -> list[Switch]:
    begun: dict[str, Switch] = {}
    done: set[str] = set()
    for line in lines:
        if line.begin is not None:
            begun.pop(line.begin.id, None)
            begun[line.begin.id] = line.begin
        if line.done is not None:
            done.add(line.done)
    last_claim = {switch.file: switch.id for switch in begun.values()}
    return [
        switch
        for switch in begun.values()
        if switch.id in done or (last_claim[switch.file] == switch.id and is_there(switch))
    ]
