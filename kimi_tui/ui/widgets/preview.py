"""What a jump would take away, under the timeline: nothing is changed by looking at it.

`aim(row)` says what is highlighted (at once, from the row alone); `show(preview)` fills in the figures when the agent
has answered. A preview for another point than the one aimed at is dropped, so answers may come late.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from rich.cells import cell_len

from kimi_tui.protocol.views import FileFate, FileTouched, RevertPreview, SwitchView, TimelineRow
from kimi_tui.ui.cells import ago, count, cut, cut_start, literal, plural, size
from kimi_tui.ui.marks import ASCII, UNICODE, Marks
from kimi_tui.ui.timeline_draw import switch_words
from kimi_tui.ui.tones import Rows, Span, hint_row, stylesheet
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

Keys = tuple[tuple[str, str], ...]


def drops(preview: RevertPreview) -> str:
    """`drops 3 steps · 6 messages · 1.5k tokens · 4 tool calls`. For a point in a rotation, what of it stays behind and
    what becomes of the gauge: `leaves out 1 step · 2 messages; 1.5k tokens fewer than now`."""
    here = preview.file is None
    parts = [
        plural(number, word)
        for number, word in (
            (preview.steps, "step"),
            (preview.messages, "message"),
            (preview.tokens if here else 0, "token"),
            (preview.tool_calls, "tool call"),
        )
        if number
    ]
    said = f"{'drops' if here else 'leaves out'} {' · '.join(parts) or 'nothing'}"
    if here or not preview.tokens:
        return said
    return f"{said}; {plural(abs(preview.tokens), 'token')} {'fewer' if preview.tokens > 0 else 'more'} than now"


FATES: Mapping[FileFate, str] = {"rewritten": "put back", "deleted": "removed", "recreated": "made again"}
"""What becomes of a file, as the screen says it."""
_VERB = max(len(words) for words in FATES.values()) + 1


def state_of(file: FileTouched) -> str:
    """Whether the disk still holds what the agent wrote."""
    if file.changed_since is None:
        return ""
    return "changed since" if file.changed_since else "unchanged since"


def fate_of(file: FileTouched, overwritten: bool = False) -> Span:
    """What becomes of a file when files are put back, and in which tone. `overwritten`: even if edited since."""
    if file.stays:
        return "stays", "bad"
    if not file.change:
        return "touched", "quiet"
    if file.changed_since and not overwritten:
        return "kept", "moved"
    return FATES[file.change], "bad" if file.changed_since else "quiet"


def reason_of(file: FileTouched, overwritten: bool = False) -> Span:
    """Why, where that is not plain."""
    if file.stays:
        return literal(file.stays), "quiet"
    if not file.change:
        return state_of(file), "moved" if file.changed_since else "faint"
    if file.changed_since:
        return ("over your edit", "bad") if overwritten else ("you edited it since", "moved")
    return "", ""


def files_rows(
    preview: RevertPreview, width: int, limit: int = 3, overwritten: Collection[str] = (), more: str = ""
) -> Rows:
    """`removed    parser.py`, one row a file. `more` says behind the number of the others how to see them."""
    rows: Rows = []
    for file in preview.files[:limit]:
        rows += _file_rows(file, width, file.path in overwritten)
    others = len(preview.files) - limit
    return [*rows, [(cut(f"and {plural(others, 'more file')}{more}", width), "quiet")]] if others > 0 else rows


def _file_rows(file: FileTouched, width: int, overwritten: bool) -> Rows:
    verb, tone = fate_of(file, overwritten)
    said, loud = reason_of(file, overwritten)
    lead = f"{verb:<{_VERB}}" if file.change or file.stays else f"{verb} "
    beside = width >= len(lead) + cell_len(said) + 12
    room = width - len(lead) - (cell_len(said) + 2 if beside else 0)
    row: list[Span] = [(lead, tone), (cut_start(literal(file.path), room), "")]
    if beside and said:
        row.append((f"  {said}", loud))
    below = not beside and (file.changed_since or file.stays)
    return [row, [(cut(f"  {said}", width), loud)]] if below else [row]


class Preview(Sheet):
    """See the module."""

    DEFAULT_CSS = stylesheet("preview")
    KEEPS_LAST = True

    def __init__(self, *, marks: Marks = UNICODE, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time
        self.aimed: TimelineRow | None = None
        self.preview: RevertPreview | None = None
        self.marked: TimelineRow | None = None
        """The first of two points to compare."""
        self._grown = 0
        """Rows that it had while the cursor went from point to point: the list above it does not jump up and down."""

    def aim(self, row: TimelineRow | None) -> None:
        self.aimed, self.preview = row, None
        if row is None:
            self._grown = 0
        self.changed()

    def show(self, preview: RevertPreview) -> None:
        row = self.aimed
        if row is not None and (row.checkpoint, row.file) == (preview.checkpoint, preview.file):
            self.preview = preview
            self.changed()

    def mark(self, row: TimelineRow | None) -> None:
        if row is not self.marked:
            self.marked = row
            self.changed()

    def most(self) -> int:
        return max(3, self.screen.size.height // 3)

    def on_resize(self) -> None:
        self._grown = min(self._grown, self.most())

    # --- what it says ---------------------------------------------------------------------------------------------

    def rows(self, width: int) -> Rows:
        if self.aimed is None:
            body: Rows = [[(cut("the present", width), "quiet")]]
            keys: Keys = (("u", "undo"), ("r", "redo"), ("b", "rotations"), ("f", "filter"), ("/", "search"))
        elif self.aimed.kind == "checkpoint":
            body, keys = self._point(self.aimed, width), (("⏎", "choose"), ("n", "name"), ("d", "compare"))
        elif self.aimed.kind == "switch":
            body, keys = self._switch(self.aimed.switch, width), (("⏎", "read"), ("u", "undo"), ("d", "compare"))
        else:
            body, keys = self._rotation(self.aimed, width), (("⏎", "open"), ("space", "fold"), ("d", "compare"))
        if self.marked is not None:
            keys = (("d", "with this"), ("esc", "not"))
        hints = self._hints(keys, width)
        if self.aimed is not None:
            self._grown = max(self._grown, min(len(body) + len(hints), self.most()))
        return [*body, *([] for _ in range(self._grown - len(body) - len(hints))), *hints]

    def _point(self, row: TimelineRow, width: int) -> Rows:
        number = "" if row.checkpoint is None else f" {row.checkpoint}"
        head = f"go back to{number}?" if row.file is None else f"go over to{number}?"
        rows: Rows = [
            [(cut(head, width), "strong"), (cut(f"  {ago(row.at, self.clock())}", width - len(head)), "faint")]
        ]
        if row.label:
            rows += paragraph(literal(row.label), width, "quiet", 2 if self.most() > 5 else 1)
        if self.preview is None:
            return rows
        rows += paragraph(drops(self.preview), width, "", 3)
        rows += files_rows(self.preview, width)
        for task in self.preview.tasks[:2]:
            rows.append([("still runs ", "moved"), (cut(literal(task), width - 11), "")])
        return rows

    def _switch(self, switch: SwitchView | None, width: int) -> Rows:
        if switch is None:
            return []
        tone = "fold" if switch.why == "compact" else "moved"
        rows: Rows = [[(cut(switch_words(switch, self.marks), width), f"strong {tone}")]]
        change = (
            f"{count(switch.messages_before)} {self.marks.arrow} {plural(switch.messages_after, 'message')} · "
            f"{count(switch.tokens_before)} {self.marks.arrow} {plural(switch.tokens_after, 'token')}"
        )
        rows += paragraph(change, width, "", 2)
        if switch.note:
            rows += paragraph(switch.note, width, "quiet", 4)
        kept = f"kept in {literal(switch.file)}  {ago(switch.at, self.clock())}"
        return [*rows, [(cut(kept, width), "faint")]] if switch.file else rows

    def _rotation(self, row: TimelineRow, width: int) -> Rows:
        facts = [plural(row.messages, "message")] if row.messages else []
        facts += [size(row.size)] if row.size else []
        facts += [ago(row.at, self.clock())] if row.at else []
        return [
            [(cut(literal(row.file or row.label), width), "strong")],
            *paragraph(" · ".join(facts), width, "quiet", 2),
        ]

    def _hints(self, keys: Keys, width: int) -> Rows:
        plain = self.marks is ASCII
        return [hint_row([("enter" if plain and key == "⏎" else key, word) for key, word in keys], width)]
