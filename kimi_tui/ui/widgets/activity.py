"""The row above the prompt: what goes on right now, how long it has, and how to stop it; else nothing."""

from __future__ import annotations

from time import monotonic

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.timer import Timer

from kimi_tui.ui.cells import duration, size
from kimi_tui.ui.flow_run import figures
from kimi_tui.ui.keymap import USUAL, Names
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.rows import Piece, shorten, spread
from kimi_tui.ui.state import Progress, ScreenState
from kimi_tui.ui.text import one_line
from kimi_tui.ui.widgets.line import Line

TICK = 0.125
"""Seconds a spinner frame stays."""
SOON = 0.5
"""Seconds in which a session opens without a word."""

_WORDS = {
    "waiting": "waiting for the model",
    "thinking": "thinking",
    "answering": "answering",
    "tool": "running a tool",
    "retrying": "trying again",
}
_PHASES = {"fetching": "fetching", "checking": "checking", "starting": "starting", "warming": "warming up"}


class Activity(Line):
    """Shows one `ScreenState`; a timer runs only while something moves."""

    class TodosAsked(Message):
        """How far the list is was clicked."""

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.marks = marks
        self.state = ScreenState()
        self.hint = ""
        """Words for the moment, e.g. that a second Esc would clear the prompt."""
        self._turn = self._retry = 0.0
        self._clock: Timer | None = None
        self._opens_long = False

    def on_mount(self) -> None:
        self.set_timer(SOON, self._say_that_it_opens)

    def _say_that_it_opens(self) -> None:
        self._opens_long = True
        self.changed()

    def show(self, state: ScreenState) -> None:
        if state.activity and not self.state.activity:
            self._turn = monotonic()
        if state.retry is not self.state.retry:
            self._retry = monotonic()
        self.state = state
        self._run_clock(bool(state.activity or state.progress or state.aside or state.awaited))
        self.changed()

    def say(self, hint: str) -> None:
        self.hint = hint
        self.changed()

    def _run_clock(self, moving: bool) -> None:
        if moving and self._clock is None:
            self._clock = self.set_interval(TICK, self.changed)
        elif not moving and self._clock is not None:
            self._clock.stop()
            self._clock = None

    def pieces(self, width: int) -> tuple[Piece, ...]:
        state = self.state
        if self.hint:
            return spread([Piece("  "), Piece(self.hint, "quiet")], [], width)
        if state.questions:
            return spread([Piece("  "), Piece("waiting for your answer", "moved strong")], self._todo(), width)
        if state.activity:
            return spread(self._busy(), self._todo(), width)
        if state.aside:
            return spread(self._waiting("asking aside", state.aside), [], width)
        if state.awaited:
            return spread(self._waiting("waiting for the server", state.awaited), [], width)
        if state.progress:
            return progress_pieces(state.progress, width, self._frame(), self.marks, self.names)
        if state.failed or state.unavailable:
            return spread([Piece("  "), Piece(one_line(state.failed or state.unavailable), "bad")], [], width)
        if self._opens_long and not state.opened:
            return spread([Piece("  "), Piece("opening the session", "quiet")], [], width)
        return spread([], self._todo(), width)

    def _frame(self) -> str:
        return self.marks.spinner[int(monotonic() / TICK) % len(self.marks.spinner)]

    def _busy(self) -> list[Piece]:
        state, now, dot = self.state, monotonic(), self.marks.dot
        pieces = [Piece(f"  {self._frame()} ", "now"), *self._flow()]
        if state.retry:
            left = max(0.0, state.retry.wait - (now - self._retry))
            again = f"try {state.retry.attempt} of {state.retry.attempts} in {duration(float(int(left + 0.99)))}"
            pieces += [Piece(one_line(state.retry.reason), "moved"), Piece(f" {dot} {again}", "quiet")]
        else:
            pieces += [
                Piece(_WORDS[state.activity], "quiet"),
                Piece(f" {dot} {duration(float(int(now - self._turn)))}", "faint"),
            ]
        return [*pieces, *stops(self.names)]

    def _flow(self) -> list[Piece]:
        """Where the flow stands, before what its turn is busy with."""
        run = self.state.flow
        if run is None or run.ended is not None:
            return []
        dot = self.marks.dot
        said = [Piece(f"{one_line(run.flow.name)} ", "strong"), Piece(f" {dot} ".join(figures(run)), "quiet")]
        if run.at is not None and run.flow.name != "ralph":
            said += [Piece(f" {dot} ", "faint"), Piece(shorten(one_line(run.at.label), 30))]
        return [*said, Piece(f" {dot} ", "faint")]

    def _waiting(self, what: str, whom: str) -> list[Piece]:
        return [
            Piece(f"  {self._frame()} ", "now"),
            Piece(f"{what} ", "quiet"),
            Piece(shorten(one_line(whom), 40)),
            *stops(self.names),
        ]

    def _todo(self) -> list[Piece]:
        todos = self.state.todos
        current = next((todo for todo in todos if todo.status == "in_progress"), None)
        if not todos or (current is None and all(todo.status == "done" for todo in todos)):
            return []
        done = sum(todo.status == "done" for todo in todos)
        title = shorten(one_line(current.title), self.size.width // 3) if current else ""
        return [
            Piece(f"{done} of {len(todos)}", "faint"),
            Piece(f" {self.marks.dot} {title} " if title else " ", "quiet"),
        ]

    def on_click(self, event: events.Click) -> None:
        """On the to-do list: unfolds it."""
        if event.x >= self.size.width - sum(cell_len(piece.text) for piece in self._todo()):
            self.post_message(self.TodosAsked())


def stops(names: Names) -> list[Piece]:
    return [Piece(f"   {names('stop', 'esc')}", "moved"), Piece(" stops", "quiet")]


def progress_pieces(
    progress: Progress, width: int, frame: str, marks: Marks = UNICODE, names: Names = USUAL
) -> tuple[Piece, ...]:
    """`⠙ local · fetching ━━━━──── 120 MB of 491 MB · 12 MB/s   esc stops`."""
    left = [Piece(f"  {frame} ", "now"), Piece(one_line(progress.name), "strong")]
    left.append(Piece(f" {marks.dot} {_PHASES[progress.phase]} ", "quiet"))
    if not progress.total:
        return spread(left, [], width)
    figures = _figures(progress, marks)
    stop = stops(names) if progress.phase == "fetching" else []
    taken = sum(len(piece.text) for piece in (*left, *stop)) + len(figures)
    room = min(40, width - taken - 1)
    if room < 6:
        return spread([*left, Piece(figures, "quiet")], [], width)
    done = min(room, progress.done * room // progress.total)
    return (
        *left,
        Piece(marks.exact * done, "now"),
        Piece(marks.room * (room - done), "edge"),
        Piece(figures, "quiet"),
        *stop,
    )


def _figures(progress: Progress, marks: Marks) -> str:
    if progress.phase not in ("fetching", "checking"):
        return f" {100 * progress.done // progress.total}%"
    speed = progress.done / progress.seconds if progress.seconds > 0.5 and progress.phase == "fetching" else 0
    rate = f" {marks.dot} {size(int(speed))}/s" if speed else ""
    return f" {size(progress.done)} of {size(progress.total)}{rate}"
