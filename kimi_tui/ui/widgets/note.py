"""The note for the earlier point: typed, or drafted by the model from what is about to be taken back.

Posts `Wanted(begun)` when a draft is asked for, `Unwanted` when it is no longer, `Left` for Enter. The draft comes in
with `take`; until it is whole, the typed text can be had back (`stop`), and after that with Ctrl+Z.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from kimi_tui.protocol.events import NoteDrafted
from kimi_tui.ui.cells import cut, literal
from kimi_tui.ui.text import clean
from kimi_tui.ui.tones import Rows
from kimi_tui.ui.widgets.fields import Text
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

ABOUT = "a note for the earlier point (optional)"
MOST = 6
"""Rows that are shown at once."""


class NoteField(Text):
    """Several lines; Enter is done with it."""

    class Entered(Message):
        pass

    NEW_LINE = frozenset(("shift+enter", "ctrl+j", "ctrl+enter", "alt+enter"))

    def __init__(self, text: str) -> None:
        super().__init__(
            text, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True, placeholder=ABOUT
        )
        self.highlight_cursor_line = False
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Entered())
        elif event.key in self.NEW_LINE:
            event.stop()
            event.prevent_default()
            self.insert("\n")


class Note(Vertical):
    """See the module."""

    @dataclass
    class Wanted(Message):
        begun: str

    class Unwanted(Message):
        pass

    class Left(Message):
        pass

    def __init__(self, text: str = "") -> None:
        super().__init__(classes="note")
        self.field = NoteField(text)
        self.line = Sheet(self._says)
        self.drafting = False
        self._typed = text
        self._said: tuple[str, str] = ("", "")

    def compose(self) -> ComposeResult:
        yield self.field
        yield self.line

    def on_mount(self) -> None:
        self._fit()

    @property
    def text(self) -> str:
        return self.field.text.strip()

    @property
    def kept(self) -> str:
        """What is worth keeping: half a draft is not."""
        return (self._typed if self.drafting else self.field.text).strip()

    # --- the draft ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Have it drafted; what is typed so far is the beginning."""
        if self.drafting:
            return
        self._typed, self.drafting, self.field.read_only = self.field.text, True, True
        self.say("drafting …  esc stops it", "quiet")
        self.post_message(self.Wanted(self._typed))

    def stop(self) -> None:
        """No draft after all: what was typed stands there again."""
        if self.drafting:
            self.post_message(self.Unwanted())
            self._end(self._typed, "stopped: nothing has changed", "quiet")

    def take(self, event: NoteDrafted) -> None:
        """How the draft stands."""
        match event.state:
            case "writing":
                if event.text:
                    self.field.load_text(clean(event.text))
                    self.field.move_cursor(self.field.document.end)
                waits = f"{literal(event.message)}  " if event.message else "drafting …  "
                self.say(f"{waits}esc stops it", "quiet")
            case "done":
                self._end(self._typed, "drafted: edit it as you like, ctrl+z has your own words", "quiet")
                self.field.replace(clean(event.text), (0, 0), self.field.document.end, maintain_selection_offset=False)
                self.field.move_cursor(self.field.document.end)
                self.field.focus()
            case "failed":
                self._end(self._typed, f"not drafted: {literal(event.message)}", "bad")
            case "stopped":
                self._end(self._typed, "stopped: nothing has changed", "quiet")

    def _end(self, text: str, said: str, tone: str) -> None:
        self.drafting = self.field.read_only = False
        self.field.load_text(text)
        self.field.move_cursor(self.field.document.end)
        self.say(said, tone)

    # --- what it says ---------------------------------------------------------------------------------------------

    def say(self, text: str, tone: str) -> None:
        """Something under the note: a line, or a few when it is about a fault."""
        self._said = (text, tone)
        self.line.changed()

    def _says(self, width: int) -> Rows:
        text, tone = self._said
        if text:
            return paragraph(text, width, tone, 4)
        key = "ctrl+r" if self.field.has_focus else "d"
        return [[(key, "moved"), (cut(" have the model draft it", width - len(key)), "quiet")]]

    def on_descendant_focus(self) -> None:
        self.line.changed()

    def on_descendant_blur(self) -> None:
        self.line.changed()

    def on_click(self, event: events.Click) -> None:
        """A click on the line under the note starts a draft, or stops it."""
        if event.widget is self.line:
            self.stop() if self.drafting else self.start()

    @on(NoteField.Entered)
    def _entered(self, event: NoteField.Entered) -> None:
        event.stop()
        self.post_message(self.Left())

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        rows = max(1, min(MOST, self.field.wrapped_document.height))
        height = self.field.styles.height
        if height is None or height.value != rows:
            self.field.styles.height = rows
