"""The rotation browser: every timeline that a jump left behind, and what was said in it.

Asks for `ListRotations`, `ReadRotation`, `RevertTo`, `Fork`, `ChangeRotation`, `ProposePruning`, `ExportTimeline` (see
`ui/listening.py`), and listens to what these are answered by. Where two columns do not fit, the list comes
first and Enter opens the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from kimi_tui.protocol.commands import (
    ChangeRotation,
    ExportTimeline,
    Fork,
    ListRotations,
    PreviewRevert,
    ProposePruning,
    PruneRotations,
    ReadRotation,
    RevertTo,
)
from kimi_tui.protocol.events import Event, PruningProposed, RotationRead, RotationsListed
from kimi_tui.protocol.views import PruningView, RotationView, TimelineRow
from kimi_tui.ui.cells import plural, size
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.compare import Compare
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.screens.prune import Prune
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.tones import Rows, spread, stylesheet
from kimi_tui.ui.widgets.options import Option
from kimi_tui.ui.widgets.past import Past
from kimi_tui.ui.widgets.rotation_list import RotationList, name_of, why_of
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.sheet import Sheet

PAUSE = 0.12
"""Seconds that the cursor must rest before a conversation is read: running through the list reads none."""

LIST_KEYS = (
    ("enter", "read"),
    ("r", "restore"),
    ("d", "compare"),
    ("e", "export"),
    ("p", "pin"),
    ("c", "compress"),
    ("x", "delete"),
    ("P", "prune"),
    ("/", "search"),
    ("esc", "back"),
)
READ_KEYS = (
    ("↑↓", "blocks"),
    ("space", "unfold"),
    ("/", "search"),
    ("r", "restore"),
    ("d", "compare"),
    ("e", "export"),
    ("esc", "list"),
)


class Rotations(Page):
    """See the module. `file` is the one to begin with."""

    DEFAULT_CSS = stylesheet("rotations")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "restore", "restore"),
        Binding("d", "compare", "compare"),
        Binding("e", "export", "export"),
        Binding("p", "pin", "pin"),
        Binding("c", "compress", "compress"),
        Binding("x,delete", "delete", "delete"),
        Binding("P", "prune", "prune: what the budget asks for"),
        Binding("slash,ctrl+f", "find", "search in the conversation", key_display="/"),
        Binding("tab", "swap", "list or conversation", show=False),
    ]

    def __init__(self, file: str | None = None, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.marks = marks
        self.rotations = RotationList(marks)
        self.past = Past(self._reading, marks, classes="right")
        self._wanted = file
        self._read: str | None = None
        self._timer: Timer | None = None

    def body(self) -> ComposeResult:
        with Horizontal():
            with Vertical(classes="left"):
                yield self.rotations
                yield Sheet(self.rotations.facts, classes="facts")
            yield self.past

    def on_mount(self) -> None:
        self.rotations.focus()
        ask(self, ListRotations())

    # --- what happens ---------------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        if isinstance(event, RotationsListed):
            self._list(event.rotations)
        elif isinstance(event, RotationRead) and self.chosen and event.file == self.chosen.file:
            self._read = event.file
            self.past.read(event.entries)
        elif isinstance(event, PruningProposed) and self.is_current:
            self._ask_to_prune(event.pruning)

    def _list(self, rotations: tuple[RotationView, ...]) -> None:
        self.rotations.show(rotations)
        files = [rotation.file for rotation in rotations]
        if self._wanted in files:
            self.rotations.rest(files.index(self._wanted))
            self._wanted = None
        self.frame_changed()

    @property
    def chosen(self) -> RotationView | None:
        return self.rotations.item

    @on(PickList.Highlighted)
    def _aim(self) -> None:
        self.query_one(".facts", Sheet).changed()
        self.past.head_changed()
        if self._timer is not None:
            self._timer.stop()
        if self.chosen is not None and self.chosen.file != self._read:
            self._timer = self.set_timer(PAUSE, self._ask_to_read)

    def _ask_to_read(self) -> None:
        if self.chosen is not None:
            ask(self, ReadRotation(self.chosen.file))

    @on(PickList.Chosen)
    def _open(self) -> None:
        self.add_class("-reading")
        self.past.reader.focus()

    # --- what it says ---------------------------------------------------------------------------------------------

    def title_words(self) -> str:
        return "ROTATIONS"

    def facts(self, width: int) -> str:
        behind = [item for item in self.rotations.items if not item.live]
        facts = f"{plural(len(behind), 'file')} · {size(sum(item.size for item in behind))}"
        own = size(sum(item.unique for item in behind))
        return f"{facts}, {own} of their own" if width > 60 else facts

    def keys(self) -> Sequence[tuple[str, str]]:
        return LIST_KEYS if self.rotations.has_focus else READ_KEYS

    def searched(self) -> RotationList:
        return self.rotations

    def _reading(self, width: int) -> Rows:
        chosen = self.chosen
        if chosen is None:
            return [[]]
        note = "" if self._read == chosen.file else "reading …"
        return [spread([(name_of(chosen), "strong"), (f"  {why_of(chosen)}", "quiet")], [(note, "faint")], width)]

    # --- keys -----------------------------------------------------------------------------------------------------

    @on(Past.Left)
    def action_swap(self) -> None:
        reading = self.rotations.has_focus
        self.set_class(reading, "-reading")
        (self.past.reader if reading else self.rotations).focus()

    def action_find(self) -> None:
        self.add_class("-reading")
        self.past.find()

    def action_compare(self) -> None:
        if self.chosen is not None and not self.chosen.live:
            self.app.push_screen(Compare(self.chosen.file, marks=self.marks))

    def action_export(self) -> None:
        if self.chosen is not None:
            ask(self, ExportTimeline(None if self.chosen.live else self.chosen.file))

    def action_pin(self) -> None:
        chosen = self.chosen
        if chosen is not None and not chosen.live:
            self._change(ChangeRotation(chosen.file, "unpin" if chosen.pinned else "pin"))

    def action_compress(self) -> None:
        chosen = self.chosen
        if chosen is not None and not chosen.live and not chosen.compressed:
            self._change(ChangeRotation(chosen.file, "compress"))

    def _change(self, command: ChangeRotation) -> None:
        ask(self, command)
        ask(self, ListRotations())

    def action_restore(self) -> None:
        chosen = self.chosen
        if chosen is None or chosen.live:
            return
        held = f"{plural(chosen.messages, 'message')} · {plural(chosen.tokens, 'token')}"
        row = TimelineRow("rotation", file=chosen.file, label=held, at=chosen.at)

        def restore(command: RevertTo | Fork | None) -> None:
            if command is not None:
                ask(self, command)
                self.dismiss()

        ask(self, PreviewRevert(None, chosen.file))
        self.app.push_screen(RevertChoice(row), restore)

    def action_prune(self) -> None:
        ask(self, ProposePruning())

    def _ask_to_prune(self, pruning: PruningView) -> None:
        def prune(answer: str | None) -> None:
            if answer == "prune":
                ask(self, PruneRotations(pruning.steps))

        self.app.push_screen(Prune(pruning, self.rotations.clock), prune)

    def action_delete(self) -> None:
        chosen = self.chosen
        if chosen is None or chosen.live:
            return
        about = f"{size(chosen.size)}, {size(chosen.unique)} of them are nowhere else. This cannot be undone."
        options = (Option("keep", "keep it"), Option("delete", "delete", tone="bad"))

        def delete(answer: str | None) -> None:
            if answer == "delete":
                self._change(ChangeRotation(chosen.file, "delete"))

        self.app.push_screen(Ask(f"Delete {name_of(chosen)}?", options, about, tone="bad"), delete)
