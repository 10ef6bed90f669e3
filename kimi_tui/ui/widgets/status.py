"""The header: name · folder (branch) · model at the left, modes at the right."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len
from textual import events

from kimi_tui.ui.asks import Do
from kimi_tui.ui.cells import cut_start, plural
from kimi_tui.ui.rows import Piece, spread
from kimi_tui.ui.state import ScreenState
from kimi_tui.ui.text import one_line
from kimi_tui.ui.widgets.line import Line


class Status(Line):
    """Shows one `ScreenState`."""

    state = ScreenState()

    def show(self, state: ScreenState) -> None:
        self.state = state
        self.changed()

    def pieces(self, width: int) -> tuple[Piece, ...]:
        state = self.state
        left = [Piece(" kimi-tui", "now strong"), Piece("   ")]
        left += [Piece(short_path(state.work_dir, max(8, width // 3)))] if state.work_dir else []
        if state.branch:
            left += [Piece(" "), Piece(one_line(state.branch), "good")]
        if state.model and width > 50:
            left += [Piece(" · ", "faint"), Piece(one_line(state.model.name), "quiet")]
        if state.title and width > 90:
            left += [Piece(" · ", "faint"), Piece(one_line(state.title), "quiet em")]
        return spread(left, [*tasks(state), *modes(state), Piece(" ")], width)

    def on_click(self, event: events.Click) -> None:
        """On the tasks: opens them."""
        said, at = tasks(self.state), 0
        for piece in self.pieces(self.size.width):
            if piece in said[:1] and at <= event.x < at + len(piece.text):
                self.post_message(Do("tasks"))
            at += cell_len(piece.text)


def tasks(state: ScreenState) -> list[Piece]:
    """`2 tasks ·`: how many run in the background."""
    running = len(state.running)
    return [Piece(plural(running, "task"), "now"), Piece(" · ", "faint")] if running else []


def modes(state: ScreenState) -> list[Piece]:
    """`plan · ask`: what the agent may do now."""
    said: list[Piece] = []
    if state.read_only:
        said += [Piece("read-only", "bad strong"), Piece(" · ", "faint")]
    if state.modes.plan:
        said += [Piece("plan", "now strong"), Piece(" · ", "faint")]
    if state.modes.afk:
        said += [Piece("afk", "moved strong"), Piece(" · ", "faint")]
    said.append(Piece("auto-approve", "moved strong") if state.modes.yolo else Piece("ask", "quiet"))
    return said


def short_path(path: str, width: int) -> str:
    """A folder for people: `~` for home, its end where it is too long."""
    text = one_line(path)
    home = str(Path.home())
    if text == home or text.startswith(home + "/"):
        text = "~" + text[len(home) :]
    return cut_start(text, width)
