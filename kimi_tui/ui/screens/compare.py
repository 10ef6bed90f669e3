"""Two timelines side by side: what only one of them remembers, how much they share, what the difference weighs.

Asks for `CompareTimelines(left, right)` and listens to `TimelinesCompared`. Where two columns do not fit, Tab changes
sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from kimi_tui.protocol.commands import CompareTimelines
from kimi_tui.protocol.events import Event, TimelinesCompared
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.cells import delta, literal, plural
from kimi_tui.ui.conversation import Conversation
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.tones import Rows, spread, stylesheet
from kimi_tui.ui.widgets.sheet import Sheet
from kimi_tui.ui.widgets.transcript import Transcript


def name_of(side: str) -> str:
    """`context_3@4` for `context_3.jsonl@4`."""
    return literal(side).replace(".jsonl", "").replace(".gz", "").replace(".zst", "")


class Side(Vertical):
    """What only this timeline holds."""

    def __init__(self, name: str, marks: Marks, classes: str) -> None:
        super().__init__(classes=f"side {classes}")
        self.name_words = name
        self.conversation = Conversation()
        self.transcript = Transcript(self.conversation, marks)
        self._entries: Sequence[Entry] | None = None

    def compose(self) -> ComposeResult:
        yield Sheet(self._head)
        yield self.transcript

    def show(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.conversation.reset(len(entries), entries)
        self.transcript.sync()
        self.transcript.scroll_to(y=0, animate=False)
        self.query_one(Sheet).changed()

    def _head(self, width: int) -> Rows:
        if self._entries is None:
            said = "reading …"
        else:
            said = (
                f"only here: {plural(len(self._entries), 'entry', 'entries')}"
                if self._entries
                else "nothing of its own"
            )
        return [spread([(name_of(self.name_words), "strong")], [(said, "quiet")], width)]


class Compare(Page):
    """Opened with two sides as `CompareTimelines` names them."""

    DEFAULT_CSS = stylesheet("compare")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "swap", "other side", show=False)]

    def __init__(self, left: str, right: str = "now", marks: Marks = UNICODE) -> None:
        super().__init__()
        self.left = Side(left, marks, "-first -shown")
        self.right = Side(right, marks, "-second")
        self._found: TimelinesCompared | None = None

    def body(self) -> ComposeResult:
        with Horizontal():
            yield self.left
            yield self.right

    def on_mount(self) -> None:
        self.left.transcript.focus()
        ask(self, CompareTimelines(self.left.name_words, self.right.name_words))

    def take(self, event: Event) -> None:
        sides = (self.left.name_words, self.right.name_words)
        if isinstance(event, TimelinesCompared) and (event.left, event.right) == sides:
            self._found = event
            self.left.show(event.only_left)
            self.right.show(event.only_right)
            self.frame_changed()

    def title_words(self) -> str:
        return "COMPARE"

    def facts(self, width: int) -> str:
        found = self._found
        if found is None:
            return ""
        shared = f"{plural(found.common, 'entry', 'entries')} in common"
        weight = f"{delta(found.tokens)} tokens" if found.tokens else "same weight"
        return f"{shared} · {weight}" if width > 50 else weight

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓", "scroll"), ("tab", "other side"), ("esc", "back"))

    def action_swap(self) -> None:
        to = self.right if self.left.transcript.has_focus else self.left
        for side in (self.left, self.right):
            side.set_class(side is to, "-shown")
        to.transcript.focus()
