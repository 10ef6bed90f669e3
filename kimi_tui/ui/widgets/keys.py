"""The footer: the few keys worth knowing in the present state; those that do not fit are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kimi_tui.ui.rows import Piece
from kimi_tui.ui.widgets.line import Line


class Hint(NamedTuple):
    """A key as people write it, and what it does."""

    key: str
    does: str
    action: str = ""
    """Its name in the config, for a key that can be another one."""


IDLE: tuple[Hint, ...] = (
    Hint("/", "commands"),
    Hint("@", "files"),
    Hint("^T", "timeline", "timeline"),
    Hint("^O", "unfold", "unfold"),
    Hint("^F", "find", "find"),
    Hint("shift+tab", "mode", "mode"),
    Hint("F1", "help", "help"),
)
BUSY: tuple[Hint, ...] = (
    Hint("esc", "stop", "stop"),
    Hint("enter", "steer"),
    Hint("alt+enter", "queue"),
    Hint("^T", "timeline", "timeline"),
    Hint("^O", "unfold", "unfold"),
    Hint("F1", "help", "help"),
)
BLOCK: tuple[Hint, ...] = (
    Hint("↑↓", "blocks"),
    Hint("enter", "unfold"),
    Hint("c", "copy"),
    Hint("p", "pin"),
    Hint("q", "quote"),
    Hint("e", "editor"),
    Hint("alt+↑↓", "turns", "turn_up"),
    Hint("esc", "prompt"),
)
QUEUE: tuple[Hint, ...] = (
    Hint("↑↓", "choose"),
    Hint("enter", "edit"),
    Hint("del", "remove"),
    Hint("^U", "take all back"),
    Hint("esc", "prompt"),
)
TIMELINE: tuple[Hint, ...] = (
    Hint("enter", "go back"),
    Hint("space", "fold"),
    Hint("u", "undo"),
    Hint("r", "redo"),
    Hint("d", "compare"),
    Hint("b", "rotations"),
    Hint("n", "name"),
    Hint("f", "filter"),
    Hint("/", "search"),
    Hint("esc", "prompt"),
)


class Keys(Line):
    """Shows a row of hints."""

    hints: Sequence[Hint] = IDLE

    def show(self, hints: Sequence[Hint]) -> None:
        self.hints = hints
        self.changed()

    def pieces(self, width: int) -> tuple[Piece, ...]:
        pieces: list[Piece] = [Piece(" ")]
        left = width - 1
        for usual, does, action in self.hints:
            key = self.names.short(action, usual)
            left -= len(key) + len(does) + 3
            if left < 0:
                break
            pieces += [Piece(key, "moved"), Piece(f" {does}  ", "quiet")]
        return tuple(pieces)
