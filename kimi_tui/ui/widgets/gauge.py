"""The token gauge, and the compaction bar that takes its place while a compaction runs.

Solid is what the provider counted, broken is estimated since, the shaded end is kept for the reply, the triangle is
where the context is compacted. Forms and figures say it, colours only repeat it.
"""

from __future__ import annotations

import math
from time import monotonic

from textual.timer import Timer

from kimi_tui.protocol.views import Tokens
from kimi_tui.ui.cells import count, duration
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.meter import bar
from kimi_tui.ui.rows import Piece, spread
from kimi_tui.ui.state import Compaction, ScreenState
from kimi_tui.ui.widgets.line import Line

WIDEST_BAR = 72


class Gauge(Line):
    """Shows the tokens of one `ScreenState`, or its compaction."""

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.marks = marks
        self.state = ScreenState()
        self._began = 0.0
        self._clock: Timer | None = None

    def show(self, state: ScreenState) -> None:
        if state.compaction and not self.state.compaction:
            self._began = monotonic()
            self._clock = self.set_interval(0.5, self.changed)
        elif self._clock and not state.compaction:
            self._clock.stop()
            self._clock = None
        self.state = state
        self.changed()

    def pieces(self, width: int) -> tuple[Piece, ...]:
        if self.state.compaction:
            took, stop = monotonic() - self._began, self.names("stop", "esc")
            return compaction_pieces(self.state.compaction, took, width, self.marks, stop)
        return gauge_pieces(self.state.tokens, width, self.marks)


def gauge_pieces(tokens: Tokens, width: int, marks: Marks = UNICODE) -> tuple[Piece, ...]:
    """The gauge in `width` cells: bar and figures, in narrow windows fewer figures, then no bar."""
    if not tokens.window:
        return ()
    figures = next((form for form in _figures(tokens, marks) if _cells(form) + 18 <= width), [])
    if not figures:
        return (Piece(f" {_percent(tokens)}", "now strong"),)
    room = min(WIDEST_BAR, width - _cells(figures) - 6)
    return (Piece("  "), *bar(tokens, room, marks), Piece("   "), *figures)


def _figures(tokens: Tokens, marks: Marks) -> list[list[Piece]]:
    """From the fullest form to the shortest."""
    exact = [Piece(count(tokens.exact), "now strong")]
    if tokens.exact_at is None:
        exact = [Piece(f"~{count(tokens.exact)}", "moved strong")]
    pending = [Piece(" + ", "faint"), Piece(f"~{count(tokens.pending)}", "moved")] if tokens.pending else []
    if not tokens.exact and pending:
        exact, pending = [], pending[1:]
    window = [Piece(" of ", "faint"), Piece(count(tokens.window), "quiet")]
    percent = [
        Piece(f" {marks.dot} ", "faint"),
        Piece(_percent(tokens), "bad" if tokens.total > tokens.window else "quiet"),
    ]
    cost = [Piece(f" {marks.dot} ", "faint"), Piece(f"${tokens.cost:.2f}", "quiet")] if tokens.cost else []
    return [
        [*exact, *pending, *window, *percent, *cost],
        [*exact, *pending, *window, *percent],
        [*exact, *pending, *percent],
        [Piece(count(tokens.total), "now strong"), *percent],
    ]


def _percent(tokens: Tokens) -> str:
    """By how much a window is exceeded is of no use to anybody."""
    return ">100%" if tokens.total > tokens.window else f"{100 * tokens.total / tokens.window:.0f}%"


def _cells(pieces: list[Piece]) -> int:
    return sum(len(piece.text) for piece in pieces)


_PHASES = {"hooks": 0.03, "reading": 0.1, "summarising": 0.2, "reviewing": 0.95, "switching": 0.97}
_WORDS = {
    "hooks": "asking hooks",
    "reading": "reading",
    "summarising": "summary",
    "reviewing": "waits for your word, summary",
    "switching": "switching",
}
TYPICAL_SUMMARY = 1500
"""Tokens; where no share is told, the bar nears its end as the summary nears a few times this length."""


def compaction_share(compaction: Compaction) -> float:
    """How far along, 0 to 1."""
    start = _PHASES[compaction.phase]
    if compaction.phase != "summarising":
        return start
    share = compaction.fraction
    if share is None:
        share = 1 - math.exp(-compaction.done / TYPICAL_SUMMARY)
    return start + (_PHASES["switching"] - start) * max(0.0, min(1.0, share))


def compaction_pieces(
    compaction: Compaction, seconds: float, width: int, marks: Marks = UNICODE, stop: str = "esc"
) -> tuple[Piece, ...]:
    """`◆ compacting ━━━━── summary 1.9k tokens · 14s  esc cancels`."""
    figures = f" {count(compaction.done)} tokens" if compaction.done else ""
    said = f"{_WORDS[compaction.phase]}{figures} {marks.dot} {duration(float(int(seconds)))}"
    left = [Piece("  "), Piece(f"{marks.compact} ", "fold"), Piece("compacting ", "fold strong")]
    right = [Piece(f" {said}", "quiet"), Piece(f"  {stop}", "moved"), Piece(" cancels ", "quiet")]
    room = min(WIDEST_BAR, width - _cells(left) - _cells(right))
    if room < 6:
        return spread(left, [Piece(f"{stop} ", "moved")], width)
    done = round(compaction_share(compaction) * room)
    return (*left, Piece(marks.exact * done, "fold"), Piece(marks.room * (room - done), "edge"), *right)
