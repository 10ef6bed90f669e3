"""The regions of the main screen and where they stand; what they show and mean is said by its subclasses."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from kimi_tui.protocol.commands import Command
from kimi_tui.ui.asks import Submit
from kimi_tui.ui.compositor import CloseCompositor
from kimi_tui.ui.conversation import Conversation
from kimi_tui.ui.keymap import USUAL, Names
from kimi_tui.ui.marks import ASCII, UNICODE, Marks
from kimi_tui.ui.palette import COMPONENTS
from kimi_tui.ui.pictures import can_show
from kimi_tui.ui.state import ScreenState
from kimi_tui.ui.widgets.activity import Activity
from kimi_tui.ui.widgets.asking import Asking
from kimi_tui.ui.widgets.editor import Editor
from kimi_tui.ui.widgets.finder import Finder
from kimi_tui.ui.widgets.gauge import Gauge
from kimi_tui.ui.widgets.keys import Keys
from kimi_tui.ui.widgets.prompt import Prompt
from kimi_tui.ui.widgets.queue import Queue
from kimi_tui.ui.widgets.reader import Reader
from kimi_tui.ui.widgets.sidebar import Sidebar
from kimi_tui.ui.widgets.soft_warning import SoftWarning
from kimi_tui.ui.widgets.status import Status
from kimi_tui.ui.widgets.todos import Todos


class Regions(Screen[None]):
    """Header, chat, what stands above the prompt, the prompt, the sidebar, gauge and key hints."""

    AUTO_FOCUS = ""
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self._compositor = CloseCompositor()
        self.marks = marks
        self.state = ScreenState()
        self.conversation = Conversation()
        self.status = Status()
        self.transcript = Reader(self.conversation, marks)
        self.transcript.drawn.pictures.enabled = can_show() and marks is not ASCII
        self.finder = Finder()
        self.asking = Asking()
        self.activity = Activity(marks)
        self.soft_warning = SoftWarning(marks)
        self.todos = Todos(marks)
        self.queue = Queue()
        self.prompt = Prompt(marks)
        self.set_class(marks is ASCII, "-ascii")
        self.sidebar = Sidebar(marks)
        self.gauge = Gauge(marks)
        self.keys = Keys()
        self.names = USUAL

    def name_keys(self, names: Names) -> None:
        """How keys are called in all that is said here."""
        self.names = names
        lines = (self.activity, self.soft_warning, self.gauge, self.keys)
        for widget in (self.transcript, self.asking.approval, self.asking.question, *lines):
            widget.names = names
        self.editor.leave_alone(names.given)

    def compose(self) -> ComposeResult:
        yield self.status
        with Horizontal(id="body"):
            with Vertical(id="main"):
                yield self.transcript
                yield self.finder
                yield self.asking
                yield self.activity
                yield self.soft_warning
                yield self.todos
                yield self.queue
                yield self.prompt
            yield self.sidebar
        yield self.gauge
        yield self.keys
        yield Static("kimi-tui needs a larger window", id="too-small", markup=False)

    def on_mount(self) -> None:
        # Keys that came before now wait in this screen's own queue: they go to the prompt first, in their order.
        self.call_later(self.editor.focus)

    def on_resize(self, event: events.Resize) -> None:
        self.todos.fit_into(event.size.height)

    @property
    def editor(self) -> Editor:
        return self.prompt.editor

    def submit(self, command: Command) -> None:
        self.post_message(Submit(command))
