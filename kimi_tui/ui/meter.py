"""A bar of tokens: exact, pending, the room that is left, what is kept for the reply, where it compacts."""

from __future__ import annotations

import math

from kimi_tui.protocol.views import Tokens
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.rows import Piece


def bar(tokens: Tokens, width: int, marks: Marks = UNICODE) -> list[Piece]:
    """The bar alone, neighbouring cells of one kind joined."""
    window = max(1, tokens.window)
    exact = _share(tokens.exact, window, width)
    total = max(exact + (1 if tokens.pending else 0), _share(tokens.total, window, width)) if tokens.total else 0
    reserved = width - _share(tokens.reserve, window, width)
    trigger = min(width - 1, tokens.trigger * width // window) if tokens.trigger else -1
    pieces: list[Piece] = []
    for cell in range(width):
        if cell == trigger:
            piece = Piece(marks.trigger, "fold")
        elif cell < exact:
            piece = Piece(marks.exact, "now")
        elif cell < total:
            piece = Piece(marks.pending, "moved")
        elif cell >= reserved:
            piece = Piece(marks.reserve, "faint")
        else:
            piece = Piece(marks.room, "edge")
        if pieces and pieces[-1].style == piece.style and piece.style != "fold":
            pieces[-1] = piece._replace(text=pieces[-1].text + piece.text)
        else:
            pieces.append(piece)
    return pieces


def _share(tokens: int, window: int, width: int) -> int:
    return min(width, math.ceil(tokens * width / window)) if tokens > 0 else 0
