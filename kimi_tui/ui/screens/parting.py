"""Asked before a session is left while tasks of it run: they end with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from kimi_tui.protocol.views import TaskView
from kimi_tui.ui.cells import cut, exact
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.tones import Rows
from kimi_tui.ui.widgets.options import Option
from kimi_tui.ui.widgets.sheet import Sheet

NAMED = 4
"""Tasks that are named; of more only how many."""


class Parting(Ask):
    """Its result is `leave`, `stay` or nothing."""

    def __init__(self, tasks: Sequence[TaskView]) -> None:
        self._tasks = tasks
        one = len(tasks) == 1
        options = (
            Option("stay", "stay"),
            Option("leave", f"stop {'it' if one else 'them'} and leave", tone="bad"),
        )
        title = "1 task runs in the background" if one else f"{len(tasks)} tasks run in the background"
        super().__init__(title, options)

    def details(self) -> Iterable[Widget]:
        return (Sheet(self._commands),)

    def _commands(self, width: int) -> Rows:
        rows: Rows = [[(cut(exact(task.command[: 2 * width]), width), "quiet")] for task in self._tasks[:NAMED]]
        more = len(self._tasks) - NAMED
        return [*rows, [(f"and {more} more", "faint")]] if more > 0 else rows
