"""The background tasks: what runs, how the others ended, and beside the list what the chosen one prints; of a subagent
its conversation, block by block.

Asks for `ReadTask` and `StopTask`, listens to `TasksChanged`, `SubagentChanged` and `TaskRead`. While the chosen one
runs it is read again every second; the text stays at the end unless one has scrolled up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.protocol.commands import ReadTask, StopTask
from kimi_tui.protocol.events import Event, SubagentChanged, TaskRead, TasksChanged
from kimi_tui.protocol.views import TaskView
from kimi_tui.ui.cells import exact, plural
from kimi_tui.ui.conversation import Conversation
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.beside import Beside
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.state import with_agent
from kimi_tui.ui.tones import Rows, stylesheet
from kimi_tui.ui.widgets.options import Option
from kimi_tui.ui.widgets.past import PastReader
from kimi_tui.ui.widgets.reader import Reader
from kimi_tui.ui.widgets.readout import printed
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.task_list import TaskList, in_order

PAUSE = 0.12
"""Seconds that the cursor must rest before an output is read."""
AGAIN = 1.0
"""Seconds between two readings of what a running task prints."""


class Tasks(Beside):
    """See the module. `tasks` are those that are known already."""

    DEFAULT_CSS = stylesheet("tasks")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x,delete", "stop", "stop"),
        Binding("c", "copy", "copy the output"),
    ]

    def __init__(self, tasks: tuple[TaskView, ...] = (), marks: Marks = UNICODE) -> None:
        super().__init__()
        self.tasks = TaskList(marks)
        self.reader = PastReader(Conversation(), marks)
        self._known = tasks
        self._shown: tuple[str, str] = ("", "")
        """Task and output that stand at the right."""
        self._aimed = ""
        """The task that the cursor is on."""
        self._pending: TaskRead | None = None
        """A newer output that no longer begins as the shown one, while one reads further up."""
        self._timer: Timer | None = None

    @property
    def listing(self) -> TaskList:
        return self.tasks

    @property
    def text(self) -> Widget:
        return self.reader if self._reads_subagent else self.reading

    @property
    def _reads_subagent(self) -> bool:
        return self.chosen is not None and self.chosen.agent is not None

    @property
    def chosen(self) -> TaskView | None:
        return self.tasks.item

    def texts(self) -> ComposeResult:
        yield self.reading
        yield self.reader

    def on_mount(self) -> None:
        super().on_mount()
        self._show(self._known)
        self.set_interval(AGAIN, self._tick)

    # --- what happens ---------------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        if isinstance(event, TasksChanged):
            self._show(event.tasks)
            self._read()
        elif isinstance(event, SubagentChanged):
            self._renew(with_agent(self._known, event.subagent))
        elif isinstance(event, TaskRead):
            self._renew(tuple(_newer(task, event.task) for task in self._known))
            if self.chosen and event.task.id == self.chosen.id:
                self._take_output(event)

    def _show(self, tasks: tuple[TaskView, ...]) -> None:
        self._known = tasks
        self.tasks.show(in_order(tasks))
        self.set_class(self._reads_subagent, "-subagent")
        self.frame_changed()
        self.head_changed()

    def _renew(self, tasks: tuple[TaskView, ...]) -> None:
        """The same tasks; of some there is news that changes neither their order nor their rows."""
        for known, task in zip(self._known, tasks, strict=True):
            if known != task:
                self.tasks.renew(task)
        self._known = tasks
        self.head_changed()

    def _take_output(self, read: TaskRead) -> None:
        task, output = read.task.id, read.output
        if self._reads_subagent:
            self._shown = (task, output)
            self.reader.show(read.entries)
            return
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
        """Read what the cursor rests on, if it is another one than before."""
        self.head_changed()
        chosen = self.chosen.id if self.chosen else ""
        if chosen != self._aimed:
            self._aimed = chosen
            if self._timer is not None:
                self._timer.stop()
            self._shown, self._pending = ("", ""), None
            self.reading.say(lambda width: [], end=True)
            self.reader.show(())
            self.set_class(self._reads_subagent, "-subagent")
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
        if self._reads_subagent:
            return (("↑↓", "blocks"), ("space", "unfold"), ("x", "stop"), ("c", "copy"), ("esc", "list"))
        return (("↑↓", "scroll"), ("end", "follow"), ("x", "stop"), ("c", "copy"), ("esc", "list"))

    @on(Reader.Left)
    def _left(self) -> None:
        self._go(reading=False)

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


def _newer(known: TaskView, read: TaskView) -> TaskView:
    """What was known of a task, with the figures that change while it runs; that it has ended comes by itself."""
    if known.id != read.id or known.status != read.status:
        return known
    return replace(known, output_size=read.output_size, agent=read.agent)


def _rows(output: str, width: int) -> Rows:
    if not output:
        return [[("nothing printed yet", "faint")]]
    return printed(output, width)
