"""The text of the prompt: what Enter and the arrows mean in it, earlier prompts, big pastes.

Posts `Sent` for Enter, `Queued` for Alt+Enter, `WentUp` for Up in an empty box while something waits in the queue, and
`Drafted` now and then while it is written, so that it outlives whatever happens.
What a key means for the whole app (Esc, Ctrl+C) is the app's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakSet

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from kimi_tui.protocol.views import Draft
from kimi_tui.ui import clusters, images
from kimi_tui.ui.history import History
from kimi_tui.ui.paste import Pastes
from kimi_tui.ui.widgets.fields import Text
from kimi_tui.ui.widgets.queue import Place

MOMENT = 0.5
"""Seconds of writing that may be lost when the program is killed."""


class Editor(Text):
    """The text itself."""

    @dataclass
    class Sent(Message):
        text: str
        images: tuple[str, ...] = ()
        place: Place | None = None
        """Where it has been in the queue."""

    @dataclass
    class Queued(Message):
        text: str
        images: tuple[str, ...] = ()
        place: Place | None = None

    @dataclass
    class WentUp(Message):
        pass

    @dataclass
    class Drafted(Message):
        """What stands here has changed and is worth keeping."""

        draft: Draft

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+v", "paste_any", "paste text or an image", show=False),
        Binding("pageup", "screen.scroll(-1)", show=False),
        Binding("pagedown", "screen.scroll(1)", show=False),
    ]
    NEW_LINE: ClassVar[set[str]] = {"shift+enter", "ctrl+j", "ctrl+enter"}

    def __init__(self) -> None:
        super().__init__(
            soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True, max_checkpoints=200
        )
        self.highlight_cursor_line = False
        self.cursor_blink = False
        self.earlier = History()
        self.pastes = Pastes()
        self.something_queued = False
        self.first_refusal: Callable[[str], bool] = lambda key: False
        """Asked before a key gets its meaning here: an open list takes the arrows."""
        self.heard: WeakSet[events.Key] = WeakSet()
        """Keys that have been here, to be told from those that have not come here yet."""
        self.placed = ""
        """The text that was last put here by the app, not by typing."""
        self.place: Place | None = None
        """Where in the queue the text has been, until it is sent or cleared."""
        self._drafting = False

    def leave_alone(self, keys: Iterable[str]) -> None:
        """Keys that the config has given to something else have no meaning of their own here any more."""
        for key in keys:
            self._bindings.key_to_bindings.pop(key, None)

    @property
    def whole(self) -> str:
        """The text with big pastes unfolded."""
        return self.pastes.unfold(self.text)

    @property
    def draft(self) -> Draft:
        """What stands here, to be kept."""
        return self.pastes.draft(self.text)

    def restore(self, draft: Draft) -> None:
        """Put a prompt here that was kept. With something in the box already it is one of the earlier prompts."""
        if self.text:
            self.earlier.add(Pastes.of(draft).unfold(draft.text))
        else:
            self.put(self.pastes.restore(draft))

    def draft_soon(self) -> None:
        """Say after a moment what stands here then: not at every key, but also while somebody types on and on."""
        if not self._drafting:
            self._drafting = True
            self.set_timer(MOMENT, self._draft_now)

    def _draft_now(self) -> None:
        self._drafting = False
        self.post_message(self.Drafted(self.draft))

    @property
    def images(self) -> tuple[str, ...]:
        """Data URLs of the images that are attached."""
        return self.pastes.images(self.text)

    @property
    def before_cursor(self) -> str:
        return self.get_text_range((0, 0), self.cursor_location)

    def replace_before_cursor(self, start: int, text: str) -> None:
        """Replace what stands from character `start` of the text to the cursor."""
        head = self.before_cursor[:start]
        row, column = head.count("\n"), len(head) - (head.rfind("\n") + 1)
        self.replace(text, (row, column), self.cursor_location, maintain_selection_offset=False)

    def put(self, text: str) -> None:
        """Replace the text; the cursor goes to its end. Can be undone like any edit."""
        self.placed = text
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    def take(self) -> str:
        """The whole text; the box is empty afterwards and the history knows it."""
        text = self.whole
        self.earlier.add(text)
        self.place = None
        self.load_text("")
        self.pastes.forget()
        return text

    def send(self, form: type[Sent] | type[Queued]) -> None:
        """Hand the text over. The box is empty at once: the next key belongs to the next prompt, however fast it is."""
        self.post_message(form(self.whole, self.images, self.place))
        self.take()

    def give_back(self, text: str) -> None:
        """What was handed over was of no use: it stands here again, before what was typed since."""
        self.put(self.pastes.fold(text) + self.text)

    def set_aside(self) -> None:
        """Empty the box; the text can be had back with Up."""
        self.take()

    async def _on_key(self, event: events.Key) -> None:
        self.heard.add(event)
        if self.first_refusal(event.key) or self._does(event.key):
            event.stop()
            event.prevent_default()

    def _does(self, key: str) -> bool:
        """Whether the key has a meaning of its own here."""
        match key:
            case "enter":
                self._enter()
            case "alt+enter":
                if self.text.strip():
                    self.send(self.Queued)
            case key if key in self.NEW_LINE:
                self.insert("\n")
            case key if key in clusters.JOINERS:
                self.insert(clusters.JOINERS[key])
            case "up":
                return self._older()
            case "down":
                return self._newer()
            case _:
                return False
        return True

    def _enter(self) -> None:
        row, column = self.cursor_location
        if self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
        elif self.text.strip():
            self.send(self.Sent)

    def _older(self) -> bool:
        if not self.text and self.something_queued:
            self.post_message(self.WentUp())
            return True
        if not self._at_edge(first=True):
            return False
        older = self.earlier.older(self.text)
        if older is not None:
            self.put(older)
            self.move_cursor((0, 0))
        return True

    def _newer(self) -> bool:
        newer = self.earlier.newer() if self._at_edge(first=False) else None
        if newer is None:
            return False
        self.put(newer)
        return True

    def _at_edge(self, *, first: bool) -> bool:
        """Whether the cursor is on the first or last row as shown."""
        if not self.selection.is_empty:
            return False
        y = self.wrapped_document.location_to_offset(self.cursor_location).y
        return y == 0 if first else y >= self.wrapped_document.height - 1

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if path := images.dropped_image(event.text):
            content = await asyncio.to_thread(path.read_bytes)
            self._put_in(self.pastes.attach(images.data_url(content, path.suffix), path.name) + " ")
        else:
            self._put_in(self.pastes.fold(event.text))

    async def action_paste_any(self) -> None:
        """An image from the clipboard, else the text that was last copied here."""
        if content := await images.clipboard_image():
            self._put_in(self.pastes.attach(images.data_url(content, ".png"), "clipboard.png") + " ")
        else:
            self._put_in(self.pastes.fold(self.app.clipboard))

    def _put_in(self, text: str) -> None:
        start, end = self.selection
        result = self.replace(text, start, end, maintain_selection_offset=False)
        self.move_cursor(result.end_location)
