"""The prompt: a box that grows with its text, up to a third of the screen, and the list that opens over it.

The list offers commands after `/`, files and resources of servers after `@` and, on Ctrl+R, earlier prompts that hold
what is typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static, TextArea

from kimi_tui.protocol.views import ResourceView, SlashCommand
from kimi_tui.ui import completion
from kimi_tui.ui.completion import Suggestion
from kimi_tui.ui.files import Files
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.text import one_line
from kimi_tui.ui.widgets.editor import Editor
from kimi_tui.ui.widgets.popup import Popup


class Prompt(Horizontal):
    """The box around the editor, with a sign that tells what Enter will do."""

    @dataclass
    class CommandsWanted(Message):
        """The list of commands opens: skills may have come since it was told."""

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.editor = Editor()
        self.editor.first_refusal = self._list_takes
        self.popup = Popup()
        self.sign = Static(marks.prompt, classes="sign", markup=False)
        self._commands: Sequence[SlashCommand] = ()
        self._resources: Sequence[ResourceView] = ()
        self._files: Files | None = None
        self._listed_for = ""
        """What stood before the cursor when the list was made."""
        self._searching: str | None = None
        """What was in the box when the search of earlier prompts began; None when it is not open."""

    def compose(self) -> ComposeResult:
        yield self.popup
        yield self.sign
        yield self.editor

    def know(self, commands: Sequence[SlashCommand], resources: Sequence[ResourceView], work_dir: str) -> None:
        """What there is to complete."""
        self._commands, self._resources = commands, resources
        if self.popup.display and completion.command_word(self.editor.before_cursor) is not None:
            self._suggest()
        folder = Path(work_dir)
        if self._files is None or self._files.folder != folder:
            self._files = Files(folder) if folder.is_dir() else None

    # --- size ----------------------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self.fit()
        self.set_class(self.editor.document.get_line(0).startswith("!"), "-shell")
        self._suggest()

    def fit(self) -> None:
        """As high as the text, at least one row and at most a third of the screen."""
        most = max(1, self.screen.size.height // 3)
        rows = max(1, min(most, self.editor.wrapped_document.height))
        height = self.editor.styles.height
        if height is None or height.value != rows:
            self.editor.styles.height = rows

    def on_resize(self) -> None:
        self.fit()

    # --- the list ------------------------------------------------------------------------------------------------

    def search_history(self) -> None:
        """Ctrl+R: earlier prompts that hold the words in the box; again: the next of them."""
        if self._searching is not None:
            self.popup.move(1)
            return
        self._searching = self.editor.text
        self._suggest()

    def _suggest(self) -> None:
        if self._searching is not None:
            self.popup.show([_earlier(prompt) for prompt in self.editor.earlier.search(self.editor.text)[:200]])
            return
        before = self._listed_for = self.editor.before_cursor
        if before and before == self.editor.placed:
            self.popup.show(())
        elif (word := completion.command_word(before)) is not None:
            if not word:
                self.post_message(self.CommandsWanted())
            self.popup.show(completion.commands(word, self._commands))
        elif found := completion.mentioned(before):
            self.run_worker(self._suggest_mentions(*found), group="mentions", exclusive=True)
        else:
            self.popup.show(())

    async def _suggest_mentions(self, start: int, query: str) -> None:
        found = await self._files.find(query) if self._files else []
        if completion.mentioned(self.editor.before_cursor) == (start, query):
            resources = completion.resources(start, query, self._resources)
            self.popup.show(completion.together(query, completion.files(start, found), resources))

    def _list_takes(self, key: str) -> bool:
        """Whether an open list has a use for the key."""
        if key in ("up", "down", "tab", "enter"):
            self._catch_up()
        if key == "escape" and self._searching is not None:
            self._end_search(self._searching)
        elif self.popup.chosen is None:
            return False
        elif key in ("up", "down"):
            self.popup.move(-1 if key == "up" else 1)
        elif key == "escape":
            self.popup.show(())
        elif key in ("tab", "enter"):
            self._accept(self.popup.chosen, send=key == "enter")
        else:
            return False
        return True

    def _catch_up(self) -> None:
        """Keys may come faster than the list: what was typed since it opened is not lost for something of it."""
        before = self.editor.before_cursor
        if self._searching is not None or before == self._listed_for:
            return
        found = completion.mentioned(before)
        if found is None:
            self._suggest()
        else:
            self.popup.show(completion.still_good(*found, self.popup.suggestions))

    @on(Popup.Chosen)
    def _clicked(self, event: Popup.Chosen) -> None:
        event.stop()
        self._accept(event.suggestion, send=False)

    def _accept(self, suggestion: Suggestion, *, send: bool) -> None:
        if self._searching is not None:
            self._end_search(suggestion.insert)
            return
        self.popup.show(())
        self.editor.replace_before_cursor(suggestion.start, suggestion.insert)
        if send and suggestion.complete and suggestion.start == 0:
            self.editor.send(Editor.Sent)

    def _end_search(self, text: str) -> None:
        self._searching = None
        self.popup.show(())
        self.editor.put(text)


def _earlier(prompt: str) -> Suggestion:
    return Suggestion(one_line(prompt), "", prompt, 0)
