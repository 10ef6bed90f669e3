"""The background tasks: what runs, how the others ended, and beside the list what the chosen one prints.

Asks for `ReadTask` and `StopTask`, listens to `TasksChanged` and `TaskRead`. While the chosen one runs its output is
read again every second; it stays at the end unless one has scrolled up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.timer import Timer

from kimi_tui.protocol.commands import ReadTask, StopTask
from kimi_tui.protocol.events import Event, TaskRead, TasksChanged
from kimi_tui.protocol.views import TaskView
from kimi_tui.ui.cells import exact, plural
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.beside import Beside
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.tones import Rows
from kimi_tui.ui.widgets.options import Option
from kimi_tui.ui.widgets.readout import printed
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.task_list import TaskList, in_order

PAUSE = 0.12
"""Seconds that the cursor must rest before an output is read."""
AGAIN = 1.0
"""Seconds between two readings of what a running task prints."""


class Tasks(Beside):
    """See the module. `tasks` are those that are known already."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x,delete", "stop", "stop"),
        Binding("c", "copy", "copy the output"),
    ]

    def __init__(self, tasks: tuple[TaskView, ...] = (), marks: Marks = UNICODE) -> None:
        super().__init__()
        self.tasks = TaskList(marks)
        self._known = tasks
        self._shown: tuple[str, str] = ("", "")
        """Task and output that stand at the right."""
        self._pending: TaskRead | None = None
        """A newer output that no longer begins as the shown one, while one reads further up."""
        self._timer: Timer | None = None

    @property
    def listing(self) -> TaskList:
        return self.tasks

    @property
    def chosen(self) -> TaskView | None:
        return self.tasks.item

    def on_mount(self) -> None:
        super().on_mount()
        self.tasks.show(in_order(self._known))
        self.set_interval(AGAIN, self._tick)

    # --- what happens ---------------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        if isinstance(event, TasksChanged):
            self.tasks.show(in_order(event.tasks))
            self.frame_changed()
            self._read()
        elif isinstance(event, TaskRead) and self.chosen and event.task.id == self.chosen.id:
            self._take_output(event)

    def _take_output(self, read: TaskRead) -> None:
        task, output = read.task.id, read.output
        other = task != self._shown[0]
        follow = other or self.reading.at_end
        if not follow and not output.startswith(self._shown[1]):
            self._pending = read  # its beginning has gone: showing it would move what is read
        elif (task, output) != self._shown:
            self._pending = None
            self._shown = (task, output)
            self.reading.say(lambda width: _rows(output, width), end=follow)
        self.head_changed()

    def _tick(self) -> None:
        """Ages grow; what runs may have printed more."""
        self.tasks.refresh()
        if self._pending is not None and self.reading.at_end:
            self._take_output(self._pending)
        if self.chosen is not None and self.chosen.status == "running":
            self._read()
        self.head_changed()

    @on(PickList.Highlighted)
    def _aim(self) -> None:
        self.head_changed()
        if self._timer is not None:
            self._timer.stop()
        chosen = self.chosen
        if chosen is None or chosen.id != self._shown[0]:
            self._shown, self._pending = ("", ""), None
            self.reading.say(lambda width: [], end=True)
            self._timer = self.set_timer(PAUSE, self._read)

    def _read(self) -> None:
        if self.chosen is not None:
            ask(self, ReadTask(self.chosen.id))

    # --- what it says ---------------------------------------------------------------------------------------------

    def title_words(self) -> str:
        return "TASKS"

    def facts(self, width: int) -> str:
        running = sum(task.status == "running" for task in self.tasks.items)
        return f"{running} running · {plural(len(self.tasks.items), 'task')}" if self.tasks.items else ""

    def head(self, width: int) -> Rows:
        rows = self.tasks.about(width)
        return [*rows, [("end goes on following", "moved")]] if self._pending else rows

    def list_keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "read"), ("x", "stop"), ("c", "copy"), ("/", "search"), ("esc", "back"))

    def read_keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓", "scroll"), ("end", "follow"), ("x", "stop"), ("c", "copy"), ("esc", "list"))

    # --- keys -----------------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        if self._shown[1]:
            self.app.copy_to_clipboard(self._shown[1])
            self.notify("The output that is shown is in the clipboard.", timeout=2)

    def action_stop(self) -> None:
        chosen = self.chosen
        if chosen is None or chosen.status != "running":
            return
        options = (Option("run", "let it run"), Option("stop", "stop it", tone="bad"))

        def stop(answer: str | None) -> None:
            if answer == "stop":
                ask(self, StopTask(chosen.id))

        about = f"{exact(chosen.command[:1000])}\n\nIt is ended with everything that it has started."
        self.app.push_screen(Ask("Stop this task?", options, about, tone="bad"), stop)


def _rows(output: str, width: int) -> Rows:
    if not output:
        return [[("nothing printed yet", "faint")]]
    return printed(output, width)
