"""What going back would do to every file: the list, and beside it the difference of the chosen one.

Files that the user has edited since are left alone unless they are ticked here (Space). Asks for `PreviewFile`, listens
to `FilePreviewed`. Where two columns do not fit, the list comes first and Enter opens the difference.
"""

from __future__ import annotations

from collections.abc import MutableSet, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer

from kimi_tui.protocol.commands import PreviewFile
from kimi_tui.protocol.events import Event, FilePreviewed
from kimi_tui.protocol.views import FileTouched, TimelineRow
from kimi_tui.ui.branch_rows import offset_of
from kimi_tui.ui.cells import cut_start, literal, plural
from kimi_tui.ui.listening import ask
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.tones import Rows, Span, stylesheet
from kimi_tui.ui.widgets.diff_block import DiffBlock
from kimi_tui.ui.widgets.lines import Lines
from kimi_tui.ui.widgets.preview import fate_of, reason_of
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

PAUSE = 0.12
"""Seconds that the cursor must rest before a difference is asked for: running through the list asks for none."""


def tickable(file: FileTouched) -> bool:
    """Whether the user decides: it could be put back, but was edited since."""
    return bool(file.change and file.changed_since and not file.stays)


class FileList(Lines):
    """One row a file. `ticked` is shared with whoever opened the page."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "tick", "overwrite or keep", show=False)]

    @dataclass
    class Moved(Message):
        file: FileTouched

    class Chosen(Message):
        pass

    class Ticked(Message):
        pass

    def __init__(self, files: Sequence[FileTouched], ticked: MutableSet[str]) -> None:
        super().__init__()
        self.files, self.ticked = files, ticked

    @property
    def current(self) -> FileTouched:
        return self.files[self.cursor]

    def on_mount(self) -> None:
        self.resized()

    def on_resize(self) -> None:
        self.resized()

    def total(self) -> int:
        return len(self.files)

    def spans(self, index: int, width: int) -> list[Span]:
        file = self.files[index]
        on = file.path in self.ticked
        box = ("[x] " if on else "[ ] ") if tickable(file) else "    "
        fate, tone = fate_of(file, on)
        room = max(0, width - len(box) - cell_len(fate) - 2)
        path = cut_start(literal(file.path), room)
        gap = " " * (room - cell_len(path) + 2)
        strong = "strong" if index == self.cursor else ""
        return [(box, "moved"), (path, strong), (gap + fate, tone)]

    def moved(self) -> None:
        self.post_message(self.Moved(self.current))

    def chosen(self) -> None:
        self.post_message(self.Chosen())

    def clicked(self, index: int, x: int) -> None:
        if x < 4:
            self.action_tick()

    def action_tick(self) -> None:
        file = self.current
        if not tickable(file):
            return
        if file.path in self.ticked:
            self.ticked.remove(file.path)
        else:
            self.ticked.add(file.path)
        self.refresh_line(self.cursor)
        self.post_message(self.Ticked())


class Difference(DiffBlock, can_focus=True):
    """Scrolls by keys."""


class FileChanges(Page):
    """See the module. `row` is the point to go back to; `ticked` holds the files to overwrite, and is changed here."""

    DEFAULT_CSS = stylesheet("file_changes")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "swap", "list or difference", show=False)]

    def __init__(self, row: TimelineRow, files: Sequence[FileTouched], ticked: MutableSet[str]) -> None:
        super().__init__()
        self.row, self.files = row, files
        self.list = FileList(files, ticked)
        self.difference = Difference()
        self._shown: FilePreviewed | None = None
        self._timer: Timer | None = None

    def body(self) -> ComposeResult:
        with Horizontal():
            with Vertical(classes="left"):
                yield self.list
            with Vertical(classes="right"):
                yield Sheet(self._about, classes="about")
                yield self.difference

    def on_mount(self) -> None:
        self.list.focus()
        self._ask()

    # --- asking ---------------------------------------------------------------------------------------------------

    @on(FileList.Moved)
    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, self._ask)
        self.difference.show([])
        self._about_changed()

    def _ask(self) -> None:
        row, file = self.row, self.list.current
        if not file.stays:
            ask(self, PreviewFile(file.path, row.checkpoint, row.file, offset_of(row)))

    def take(self, event: Event) -> None:
        """An answer for a file that the cursor has left in the meantime is dropped."""
        if isinstance(event, FilePreviewed) and event.path == self.list.current.path:
            self._shown = event
            self.difference.show([event.diff] if event.diff is not None else [])
            self.difference.scroll_to(y=0, animate=False)
            self._about_changed()

    def _about_changed(self) -> None:
        self.query_one(".about", Sheet).changed()

    @property
    def _reads(self) -> FilePreviewed | None:
        """The answer for the file under the cursor, when it is there."""
        shown = self._shown
        return shown if shown is not None and shown.path == self.list.current.path else None

    # --- what it says ---------------------------------------------------------------------------------------------

    def title_words(self) -> str:
        return "FILES" if self.row.checkpoint is None else f"FILES AS OF {self.row.checkpoint}"

    def facts(self, width: int) -> str:
        yours = [file for file in self.files if tickable(file)]
        ticked = sum(file.path in self.list.ticked for file in yours)
        facts = [plural(len(self.files), "file")]
        if len(yours) > ticked:
            facts.append(f"{len(yours) - ticked} edited since and kept")
        if ticked:
            facts.append(f"{ticked} overwritten")
        return " · ".join(facts)

    def keys(self) -> Sequence[tuple[str, str]]:
        if not self.list.has_focus:
            return (("↑↓", "scroll"), ("tab", "list"), ("esc", "list"))
        tick = (("space", "overwrite or keep"),) if any(map(tickable, self.files)) else ()
        return (("↑↓", "files"), *tick, ("enter", "read"), ("esc", "back"))

    def _about(self, width: int) -> Rows:
        file = self.list.current
        on = file.path in self.list.ticked
        fate, tone = fate_of(file, on)
        why, loud = reason_of(file, on)
        rows: Rows = [[(fate, tone), (f"  {why}" if why else "", loud)]]
        if self._reads is not None and self._reads.diff is not None:
            return rows  # the difference has the path in its headline
        rows += paragraph(literal(file.path), width, "strong", 3)
        if not file.stays:
            said = "reading …" if self._reads is None else "not text: there is nothing to compare"
            rows.append([(said, "faint" if self._reads is None else "quiet")])
        return rows

    # --- keys -----------------------------------------------------------------------------------------------------

    @on(FileList.Ticked)
    def _ticked(self) -> None:
        self._about_changed()
        self.frame_changed()

    @on(FileList.Chosen)
    def action_swap(self) -> None:
        reading = self.list.has_focus
        self.set_class(reading, "-reading")
        (self.difference if reading else self.list).focus()

    def action_back(self) -> None:
        if self.list.has_focus:
            self.dismiss()
        else:
            self.action_swap()
