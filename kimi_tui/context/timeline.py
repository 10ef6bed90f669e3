"""The tree of timelines: which one took another's place, why and when. Plain values; opens no file."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import msgspec

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
    counted: tuple[bool, bool] = (True, True)
    """Whether a model's count is part of these figures. Without one they are estimates of the messages alone, and what
    is sent beside them (system prompt, tools) comes on top."""
    size: int = 0
    """Bytes of the file left behind."""
    note: str = ""
    took: str = ""
    """The rotation that became the live file itself and is no more: undo and redo copy nothing."""


@dataclass(frozen=True, slots=True)
class Node:
    """One timeline."""

    id: str
    parent: str | None
    """The timeline whose beginning it shares."""
    file: str
    """The file that holds it; the live file's name for the live one."""
    birth: Switch | None
    """How it came to be; None for the first."""
    live: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """All timelines of a session. Immutable: a switch makes a new one."""

    live_file: str
    switches: tuple[Switch, ...] = ()
    """Oldest first."""
    undo: tuple[str, ...] = ()
    """Ids of the timelines that undo goes back to, the next one last."""
    redo: tuple[str, ...] = ()
    live_id: str = ROOT
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Timeline id → the rotation that holds it."""
    labels: tuple[tuple[str, int, str], ...] = ()
    """The user's names for checkpoints: timeline id, checkpoint id, name; the newest last."""
    pinned: frozenset[str] = frozenset()
    """Rotations that no policy may remove."""

    @property
    def live(self) -> Node:
        return self.node(self.live_id)

    @property
    def last(self) -> Switch | None:
        return self.switches[-1] if self.switches else None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Oldest first."""
        births: dict[str, Switch | None] = {ROOT: None, **{switch.id: switch for switch in self.switches}}
        births |= {node_id: None for node_id in self.files if node_id not in births}  # the journal lost a line
        there = (item for item in births.items() if item[0] in self.files or self._lives(item[0]))
        return tuple(self._node(node_id, birth) for node_id, birth in there)

    def _lives(self, node_id: str) -> bool:
        return node_id == self.live_id

    def birth(self, node_id: str) -> Switch | None:
        return next((switch for switch in reversed(self.switches) if switch.id == node_id), None)

    def node(self, node_id: str) -> Node:
        """Raises `KeyError` for a timeline that is unknown or whose file is gone."""
        return self._node(node_id, self.birth(node_id))

    def _node(self, node_id: str, birth: Switch | None) -> Node:
        live = self._lives(node_id)
        file = self.live_file if live else self.files[node_id]
        return Node(node_id, birth.parent if birth else None, file, birth, live)

    def ancestor(self, node: Node) -> str | None:
        """The nearest timeline before it whose file is still there: one that undo moved back or that was pruned is
        passed over."""
        at = node.parent
        while at is not None and at not in self.files and not self._lives(at):
            birth = self.birth(at)
            at = birth.parent if birth else None
        return at

    def node_of(self, file: str) -> Node | None:
        """The timeline that a file holds."""
        if file == self.live_file:
            return self.live
        found = next((node_id for node_id, name in self.files.items() if name == file), None)
        return None if found is None else self.node(found)

    def names(self, node_id: str | None = None) -> dict[int, str]:
        """The user's names of a timeline's checkpoints (of the live one's by default), inherited ones included."""
        node_id = self.live_id if node_id is None else node_id
        birth = self.birth(node_id)
        names: dict[int, str] = {}
        if birth is not None and birth.parent is not None:
            until = birth.checkpoint
            names = {n: name for n, name in self.names(birth.parent).items() if until is None or n < until}
        own = {checkpoint: name for owner, checkpoint, name in self.labels if owner == node_id}
        return {checkpoint: name for checkpoint, name in (names | own).items() if name}

    def after(self, switch: Switch) -> Timeline:
        undo, redo = self.undo, self.redo
        if switch.why == "undo":
            undo, redo = _popped(undo, switch.parent), (*redo, switch.left)
        elif switch.why == "redo":
            undo, redo = (*undo, switch.left), _popped(redo, switch.parent)
        else:
            undo, redo = (*undo, switch.left), ()
        kept = {node_id: file for node_id, file in self.files.items() if file != switch.took}
        files = MappingProxyType({**kept, switch.left: switch.file})
        return replace(self, switches=(*self.switches, switch), undo=undo, redo=redo, live_id=switch.id, files=files)

    def named(self, node_id: str, checkpoint: int, name: str) -> Timeline:
        return replace(self, labels=(*self.labels, (node_id, checkpoint, name)))

    def with_pin(self, file: str, on: bool) -> Timeline:
        return replace(self, pinned=self.pinned | {file} if on else self.pinned - {file})

    def without(self, gone: frozenset[str]) -> Timeline:
        """The same when these rotations are no more."""
        if not gone:
            return self
        files = {node_id: file for node_id, file in self.files.items() if file not in gone}
        return replace(
            self,
            files=MappingProxyType(files),
            undo=tuple(node_id for node_id in self.undo if node_id in files),
            redo=tuple(node_id for node_id in self.redo if node_id in files),
            pinned=self.pinned - gone,
        )


def _popped(stack: tuple[str, ...], target: str | None) -> tuple[str, ...]:
    """The stack below its topmost `target`."""
    for position in range(len(stack) - 1, -1, -1):
        if stack[position] == target:
            return stack[:position]
    return stack[:-1]


def new_id(now: float | None = None) -> str:
    """Sorts by time, does not repeat."""
    return f"{int((time.time() if now is None else now) * 1000):012x}{secrets.token_hex(4)}"
