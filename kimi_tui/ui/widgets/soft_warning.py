"""One quiet row above the prompt: a compaction is near, or a summary waits to be read. Takes no room otherwise.

Its keys work while something is typed, and each can be clicked. Posts `Asked`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message

from kimi_tui.ui.cells import count
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.rows import Piece
from kimi_tui.ui.state import ScreenState
from kimi_tui.ui.widgets.line import Line

Wish = Literal["now", "focus", "pin", "snooze", "read"]


class Offer(NamedTuple):
    """An action by its name in the config, its usual key, the word for it, and what is wished with it."""

    action: str
    key: str
    word: str
    wish: Wish


NEAR = (
    Offer("compact_now", "alt+c", "now", "now"),
    Offer("compact_focus", "alt+k", "focus…", "focus"),
    Offer("pin", "alt+p", "pin", "pin"),
    Offer("snooze", "alt+z", "snooze", "snooze"),
)
WAITING = (Offer("compact_now", "alt+c", "read it", "read"),)


class SoftWarning(Line):
    """Shows one `ScreenState`."""

    @dataclass
    class Asked(Message):
        wish: Wish

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.marks = marks
        self.state = ScreenState()
        self._places: list[tuple[int, int, Wish]] = []

    def on_mount(self) -> None:
        self.display = False

    @property
    def wishes(self) -> tuple[Offer, ...]:
        """What can be asked for now; nothing when there is nothing to say."""
        if self.state.proposal is not None:
            return WAITING
        return NEAR if self.state.near and self.state.compaction is None else ()

    def show(self, state: ScreenState) -> None:
        self.state = state
        if self.display != bool(self.wishes):
            self.display = bool(self.wishes)
        self.changed()

    def offers(self, wish: Wish) -> bool:
        return any(offer.wish == wish for offer in self.wishes)

    def pieces(self, width: int) -> tuple[Piece, ...]:
        """What is said gives way to the keys, since those are what can be done."""
        keys = [(self.names(offer.action, offer.key), offer.word, offer.wish) for offer in self.wishes]
        room = sum(cell_len(key) + cell_len(word) + 3 for key, word, _ in keys)
        said = next((form for form in self._forms() if cell_len(form) + room + 4 <= width), "")
        pieces = [Piece(f"  {self.marks.compact} ", "fold"), Piece(f"{said}  " if said else "", "quiet")]
        at = sum(cell_len(piece.text) for piece in pieces)
        self._places = []
        for key, word, wish in keys:
            wide = cell_len(key) + cell_len(word) + 1
            if at + wide > width:
                break
            pieces += [Piece(key, "moved"), Piece(f" {word}  ", "quiet")]
            self._places.append((at, at + wide, wish))
            at += wide + 2
        return tuple(pieces)

    def _forms(self) -> tuple[str, ...]:
        """From the fullest to the shortest."""
        if self.state.proposal is not None:
            return ("the summary waits for your word; nothing has changed", "a summary waits")
        if self.state.near is None:
            return ()
        tokens, trigger = self.state.tokens.total or self.state.near[0], self.state.near[1]
        left = trigger - tokens
        if left <= 0:
            return ("the next step compacts the context", "compacts next")
        return (f"compacts by itself in {count(left)} tokens, at {count(trigger)}", f"compacts in {count(left)}")

    def on_click(self, event: events.Click) -> None:
        wish = next((wish for start, stop, wish in self._places if start <= event.x < stop), None)
        if wish is not None:
            event.stop()
            self.post_message(self.Asked(wish))
