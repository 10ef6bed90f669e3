"""Changes to files, drawn as far as they are in sight: a headline a file, numbered lines, two columns when wide.

Large differences are worked out in a thread, so that the screen never waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.geometry import Size
from textual.worker import get_current_worker

from kimi_tui.protocol.views import DiffView
from kimi_tui.ui.cells import cut_start, exact
from kimi_tui.ui.diff import DiffLine, Pair, counts, diff_lines, digits, laid_out, row_spans, shown
from kimi_tui.ui.tones import Span
from kimi_tui.ui.widgets.roll import Roll

LARGE = 60_000
"""Characters from which on a difference is worked out beside the screen."""


@dataclass(slots=True)
class _File:
    path: str
    lines: list[DiffLine]
    numbers: int
    added: int
    removed: int
    rows: Sequence[DiffLine] | Sequence[Pair] = ()
    width: int = -1

    def fold(self, width: int) -> None:
        """Find the rows for that width."""
        if width != self.width:
            self.width, self.rows = width, laid_out(self.lines, self.numbers, width)

    def spans(self, index: int, width: int) -> list[Span]:
        return row_spans(self.rows[index], self.numbers, width)


def _worked_out(view: DiffView) -> _File:
    lines = [shown(line) for line in diff_lines(view)]
    return _File(view.path, lines, digits(lines), *counts(lines))


class DiffBlock(Roll):
    """See the module."""

    def __init__(self, diffs: Sequence[DiffView] = (), *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._files: list[_File] = []
        self._waiting = False
        self._diffs = tuple(diffs)

    def on_mount(self) -> None:
        self.show(self._diffs)

    def show(self, diffs: Sequence[DiffView]) -> None:
        self._diffs = tuple(diffs)
        if sum(len(view.before) + len(view.after) for view in diffs) > LARGE:
            self._files, self._waiting = [], True
            self._resize()
            self.run_worker(self._work_out, thread=True, exclusive=True)
        else:
            self._take([_worked_out(view) for view in diffs])

    def _work_out(self) -> None:
        worker, diffs = get_current_worker(), self._diffs
        files = [_worked_out(view) for view in diffs]
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take, files)

    def _take(self, files: list[_File]) -> None:
        self._files, self._waiting = files, False
        self._resize()

    def _resize(self) -> None:
        self.resized()
        self.refresh(layout=True)

    # --- rows -----------------------------------------------------------------------------------------------------

    def _heights(self, width: int) -> list[int]:
        for file in self._files:
            file.fold(width)
        return [1 + len(file.rows) for file in self._files]

    def total(self) -> int:
        return 1 if self._waiting else sum(self._heights(self.inner_width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1 if self._waiting else sum(self._heights(width))

    def on_resize(self) -> None:
        self.resized()

    def spans(self, index: int, width: int) -> list[Span]:
        if self._waiting:
            return [("comparing …", "quiet")]
        for file, height in zip(self._files, self._heights(width), strict=True):
            if index == 0:
                return _headline(file, width)
            if index < height:
                return file.spans(index - 1, width)
            index -= height
        return []


def _headline(file: _File, width: int) -> list[Span]:
    figures: list[Span] = []
    if file.added:
        figures.append((f"  +{file.added}", "good"))
    if file.removed:
        figures.append((f"  −{file.removed}", "bad"))
    if not figures:
        figures.append(("  no change", "quiet"))
    room = width - sum(len(text) for text, _ in figures)
    return [(cut_start(exact(file.path), room), "strong"), *figures]
