"""What the session's budget would compress or remove: every file, its size, what it frees; then yes or no."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

from textual import events
from textual.widget import Widget

from kimi_tui.protocol.views import PruneStep, PruningView
from kimi_tui.ui.cells import ago, literal, plural, size
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.timeline_draw import WORDS
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.options import Option, Options
from kimi_tui.ui.widgets.readout import Readout

BESIDES = 12
"""Rows of the dialog beside the list: what is asked, what it means, the answers."""


class Prune(Ask):
    """Its result is `prune`, or anything else for nothing."""

    def __init__(self, pruning: PruningView, clock: Callable[[], float] = time.time) -> None:
        self._found, self._clock = pruning, clock
        self.list = Readout(classes="steps")
        keep = Option("keep", "keep everything" if pruning.steps else "back")
        options = (keep, Option("prune", _verb(pruning), tone="bad")) if pruning.steps else (keep,)
        super().__init__(_title(pruning), options, _about(pruning), tone="bad" if pruning.steps else "")

    def details(self) -> Iterable[Widget]:
        """However many there are, the question stays in sight: the list scrolls by itself."""
        return (self.list,) if self._found.steps else ()

    def on_mount(self) -> None:
        self.list.say(self._listed)
        self.query_one(Options).focus()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.list.styles.height = min(len(self._found.steps), max(3, event.size.height - BESIDES))

    def _listed(self, width: int) -> Rows:
        return [_row(step, self._clock(), width) for step in self._found.steps]


def _title(pruning: PruningView) -> str:
    if not pruning.steps:
        return "There is nothing to prune"
    return f"Prune {plural(len(pruning.steps), 'rotation')}?"


def _about(pruning: PruningView) -> str:
    """How it stands, and what undo and redo would lose."""
    stands = (
        f"{pruning.rotations} of {plural(pruning.max_rotations, 'rotation')}, {size(pruning.size)} of "
        f"{size(pruning.max_size)}. Pinned ones and the newest stay."
    )
    if not pruning.steps:
        return stands
    lost = Counter(step.step for step in pruning.steps if step.change == "delete" and step.step)
    reach = [f"{word} would reach {plural(count, 'step')} less far" for word, count in sorted(lost.items())]
    gone = ["What is deleted cannot be brought back"] if any(s.change == "delete" for s in pruning.steps) else []
    return " ".join([stands, *(f"{each[0].upper()}{each[1:]}." for each in [*gone, *reach])])


def _verb(pruning: PruningView) -> str:
    counted = Counter(step.change for step in pruning.steps)
    words = [f"{change} {counted[change]}" for change in ("compress", "delete") if counted[change]]
    about = "about " * bool(counted["compress"])
    return f"{' and '.join(words)}: {about}{size(sum(step.frees for step in pruning.steps))} freed"


def _row(step: PruneStep, now: float, width: int) -> list[Span]:
    name = literal(step.file).removesuffix(".jsonl")
    left: list[Span] = [(f"{step.change:<9}", "bad" if step.change == "delete" else "quiet"), (name, "")]
    if step.why:
        left.append((f"  {WORDS[step.why]}", "quiet"))
    if step.step and step.change == "delete":
        left.append((f"  {step.step} goes there", "moved"))
    freed = (
        f"{size(step.size)} → about {size(step.size - step.frees)}" if step.change == "compress" else size(step.size)
    )
    return spread(left, [(freed, ""), (f"{ago(step.at, now):>8}", "faint")], width)
