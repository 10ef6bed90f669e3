"""What undo takes back and redo does again: jumps of the conversation and restores of files alone, in one order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from kimi_tui.context import Switch, Timeline
from kimi_tui.context.timeline import ROOT
from kimi_tui.session.snapshots import Passage

Move = str | Passage
"""The timeline that a jump left, or a restore of files alone."""


@dataclass(slots=True)
class Undoing:
    """Two stacks, the next move last."""

    undo: list[Move] = field(default_factory=list)
    redo: list[Move] = field(default_factory=list)

    @classmethod
    def of(cls, timeline: Timeline, alone: Sequence[Passage]) -> Undoing:
        """As all jumps and restores have left it; `alone` are those of files alone, oldest first."""
        stacks = cls()
        for each in _in_order(timeline, alone):
            if isinstance(each, Switch):
                stacks._jumped(each)
            else:
                stacks._put_back(each)
        return stacks

    @property
    def next_undo(self) -> Passage | None:
        """The restore that undo takes back; None where it takes back a jump, or nothing."""
        return self.undo[-1] if self.undo and isinstance(self.undo[-1], Passage) else None

    @property
    def next_redo(self) -> Passage | None:
        """The taking back of a restore that redo takes back; None as above."""
        return self.redo[-1] if self.redo and isinstance(self.redo[-1], Passage) else None

    def _jumped(self, switch: Switch) -> None:
        match switch.why:
            case "undo":
                _pop(self.undo, switch.parent)
                self.redo.append(switch.left)
            case "redo":
                _pop(self.redo, switch.parent)
                self.undo.append(switch.left)
            case _:
                self.undo.append(switch.left)
                self.redo.clear()

    def _put_back(self, passage: Passage) -> None:
        if passage.why == "only_undone":
            _pop(self.undo, passage.of)
            self.redo.append(passage)
        elif passage.of is not None:
            _pop(self.redo, passage.of)
            self.undo.append(passage)
        else:
            self.undo.append(passage)
            self.redo.clear()


def _pop(stack: list[Move], target: str | int | None) -> None:
    """Down to the topmost move that is meant; one that is not there has been lost with its file, or by a crash."""
    for position in range(len(stack) - 1, -1, -1):
        move = stack[position]
        if (move.n if isinstance(move, Passage) else move) == target:
            del stack[position:]
            return


def _in_order(timeline: Timeline, alone: Sequence[Passage]) -> Iterator[Switch | Passage]:
    waiting = list(alone)
    known = {ROOT, *(switch.id for switch in timeline.switches)}
    for switch in timeline.switches:
        while waiting and _is_before(waiting[0], switch, known):
            yield waiting.pop(0)
        yield switch
    yield from waiting


def _is_before(passage: Passage, switch: Switch, known: Set[str]) -> bool:
    """Until its timeline is left, whatever clocks say; by the clock where it is not known which timeline that was."""
    return passage.live == switch.left if passage.live in known else passage.at <= switch.at
