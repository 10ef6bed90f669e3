"""The footer: the few keys worth knowing in the present state; those that do not fit are left out."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.ui.rows import Piece
from kimi_tui.ui.widgets.line import Line

Hint = tuple[str, str]
"""A key as people write it, and what it does."""

IDLE: tuple[Hint, ...] = (
    ("/", "commands"),
    ("@", "files"),
    ("^T", "timeline"),
    ("^O", "unfold"),
    ("^F", "find"),
    ("shift+tab", "mode"),
    ("F1", "help"),
)
BUSY: tuple[Hint, ...] = (
    ("esc", "stop"),
    ("enter", "steer"),
    ("alt+enter", "queue"),
    ("^T", "timeline"),
    ("^O", "unfold"),
    ("F1", "help"),
)
BLOCK: tuple[Hint, ...] = (
    ("↑↓", "blocks"),
    ("enter", "unfold"),
    ("c", "copy"),
    ("p", "pin"),
    ("q", "quote"),
    ("e", "editor"),
    ("alt+↑↓", "turns"),
    ("esc", "prompt"),
)
QUEUE: tuple[Hint, ...] = (
    ("↑↓", "choose"),
    ("enter", "edit"),
    ("del", "remove"),
    ("^U", "take all back"),
    ("esc", "prompt"),
)
TIMELINE: tuple[Hint, ...] = (
    ("enter", "go back"),
    ("space", "fold"),
    ("u", "undo"),
    ("r", "redo"),
    ("d", "compare"),
    ("b", "rotations"),
    ("n", "name"),
    ("f", "filter"),
    ("/", "search"),
    ("esc", "prompt"),
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
        for key, does in self.hints:
            left -= len(key) + len(does) + 3
            if left < 0:
                break
            pieces += [Piece(key, "moved"), Piece(f" {does}  ", "quiet")]
        return tuple(pieces)
