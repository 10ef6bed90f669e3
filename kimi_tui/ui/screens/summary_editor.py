"""A summary before it replaces anything: to be edited, beside the conversation that it stands for.

Answers with `AnswerCompaction`: Ctrl+S takes the text as it is, Ctrl+R asks for another one with a focus, Esc leaves
everything as it was. Closes by itself when the proposal is withdrawn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import TextArea

from kimi_tui.protocol.commands import AnswerCompaction
from kimi_tui.protocol.events import CompactionEnded, CompactionProposed, Event
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.cells import count, plural
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.line_prompt import LinePrompt
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.tones import Rows, spread, stylesheet
from kimi_tui.ui.widgets.fields import Text
from kimi_tui.ui.widgets.past import Past
from kimi_tui.ui.widgets.sheet import Sheet

GRACE = 0.4
"""Seconds without a key after which keys count: what was being typed when this opened is not meant for it."""


class SummaryText(Text):
    """The summary. What is typed right after it has appeared is swallowed, not written into it."""

    def __init__(self, text: str) -> None:
        super().__init__(text, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)
        self.highlight_cursor_line = False
        self.clock = time.monotonic
        self._last_key = 0.0
        self._settled = False

    def on_mount(self) -> None:
        self.opened()

    def opened(self) -> None:
        """It has just come into sight."""
        self._last_key, self._settled = self.clock(), False

    async def _on_key(self, event: events.Key) -> None:
        now = self.clock()
        self._settled = self._settled or now - self._last_key >= GRACE
        self._last_key = now
        if not self._settled and (event.is_printable or event.key in ("enter", "backspace", "delete")):
            event.stop()
            event.prevent_default()


class SummaryEditor(Page):
    """See the module."""

    DEFAULT_CSS = stylesheet("summary_editor")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "accept", "put it in place", priority=True),
        Binding("ctrl+r", "redo", "ask again with a focus", priority=True),
        Binding("tab", "swap", "the other side", priority=True, show=False),
    ]

    def __init__(self, proposal: CompactionProposed, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.proposal = proposal
        self.text = SummaryText(proposal.summary)
        self.past = Past(self._reading, marks, classes="right")
        self._warned = False

    def body(self) -> ComposeResult:
        with Horizontal():
            with Vertical(classes="left"):
                yield Sheet(self._writing, classes="writing")
                yield self.text
            yield self.past

    def on_mount(self) -> None:
        entries = self.proposal.replaced
        if self.proposal.kept:
            entries = (*entries, Entry("note", "From here on it stays word for word."), *self.proposal.kept)
        self.past.read(entries)
        self.text.focus()

    def take(self, event: Event) -> None:
        if isinstance(event, CompactionEnded) and self.is_attached:
            self.dismiss()

    # --- what it says ---------------------------------------------------------------------------------------------

    def title_words(self) -> str:
        return "COMPACTION"

    def facts(self, width: int) -> str:
        proposal = self.proposal
        figures = f"{count(proposal.tokens_before)} → ~{count(proposal.tokens_after)} tokens"
        return f"{figures} · nothing has changed yet" if width > 70 else figures

    def keys(self) -> Sequence[tuple[str, str]]:
        if self._warned:
            return (("ctrl+s", "put it in place"), ("esc", "again throws your changes away"))
        return (
            ("ctrl+s", "put it in place"),
            ("ctrl+r", "ask again with a focus…"),
            ("tab", "the conversation" if self.text.has_focus else "the summary"),
            ("esc", "cancel, nothing changes"),
        )

    def _writing(self, width: int) -> Rows:
        focus = f"keeps: {self.proposal.focus}" if self.proposal.focus else ""
        return [spread([("the summary", "strong fold"), ("  edit it as you like", "quiet")], [(focus, "faint")], width)]

    def _reading(self, width: int) -> Rows:
        proposal = self.proposal
        kept = f"{plural(len(proposal.kept), 'entry', 'entries')} after it stay" if proposal.kept else ""
        return [
            spread([("what it stands for", "strong"), ("  set aside as a rotation", "quiet")], [(kept, "faint")], width)
        ]

    # --- answers --------------------------------------------------------------------------------------------------

    def action_accept(self) -> None:
        if self.text.text.strip():
            self._answer(AnswerCompaction("accept", self.text.text))
        else:
            self.notify("An empty summary would forget everything.", severity="warning")

    def action_redo(self) -> None:
        def redo(focus: str | None) -> None:
            if focus is not None and self.is_attached:
                self._answer(AnswerCompaction("redo", focus=focus))

        self.app.push_screen(LinePrompt("What must the summary keep?", self.proposal.focus, verb="ask again"), redo)

    def action_back(self) -> None:
        """Edits are not thrown away by one key."""
        if self.text.text != self.proposal.summary and not self._warned:
            self._warned = True
            self.frame_changed()
        else:
            self._answer(AnswerCompaction("cancel"))

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._warned:
            self._warned = False
            self.frame_changed()

    def _answer(self, command: AnswerCompaction) -> None:
        ask(self, command)
        self.dismiss()

    @on(Past.Left)
    def action_swap(self) -> None:
        reading = self.text.has_focus
        self.set_class(reading, "-reading")
        (self.past.reader if reading else self.text).focus()
