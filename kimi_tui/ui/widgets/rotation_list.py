"""The timelines of a session, the live one first: why each was left behind, when, and what it holds."""

from __future__ import annotations

import time

from kimi_tui.protocol.views import RotationView
from kimi_tui.ui.cells import ago, count, literal, plural, size
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.timeline_draw import WORDS
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.sheet import paragraph


def name_of(rotation: RotationView) -> str:
    """`context_3`, `now`."""
    if rotation.live:
        return "now"
    return literal(rotation.file).removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl")


def why_of(rotation: RotationView) -> str:
    if rotation.live:
        return "the present"
    return WORDS[rotation.why] if rotation.why else "unknown"


def mark_of(rotation: RotationView, marks: Marks) -> Span:
    if rotation.live:
        return marks.now, "now"
    if rotation.why == "compact":
        return marks.compact, "fold"
    known = {"dmail": marks.dmail, "revert": marks.revert, "restore": marks.restore, "redo": marks.redo}
    return known.get(rotation.why or "", marks.clear), "moved"


class RotationList(PickList[RotationView]):
    """See the module. The mark tells the reason, a star that it is pinned, `z` that it is compressed."""

    def __init__(self, marks: Marks = UNICODE, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time

    def words(self, item: RotationView) -> str:
        return f"{name_of(item)} {why_of(item)} {item.note}"

    def same(self, one: RotationView, other: RotationView) -> bool:
        return one.file == other.file

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        mark, tone = mark_of(item, self.marks)
        lead: Span = (self.marks.cursor if index == self.cursor and self.has_focus else " ", "now")
        left: list[Span] = [(f"{mark} ", tone), (name_of(item), "strong" if item.live else "")]
        if item.pinned:
            left.append((f" {self.marks.named}", "moved"))
        if item.compressed:
            left.append((" z", "faint"))
        left.append((f"  {why_of(item)}", "quiet"))
        right: list[Span] = [(f"{count(item.tokens):>5}", "quiet"), (f"{ago(item.at, self.clock()):>7}", "faint")]
        return [lead, *spread(left, right, width - 2)]

    def facts(self, width: int) -> Rows:
        """Everything known about the one under the cursor."""
        item = self.item
        if item is None:
            nothing = "nothing found" if self.items else "going back, compacting and clearing leave files here"
            return paragraph(nothing, width, "quiet", 2)
        rows: Rows = [spread([(name_of(item), "strong")], [(ago(item.at, self.clock()), "faint")], width)]
        said = [plural(item.messages, "message"), plural(item.checkpoints, "checkpoint"), plural(item.tokens, "token")]
        rows += paragraph(" · ".join(said), width, "quiet", 2)
        room = size(item.size) + (f", {size(item.unique)} of its own" if not item.live else "")
        flags = [flag for flag, on in (("pinned", item.pinned), ("compressed", item.compressed)) if on]
        rows += paragraph(" · ".join([room, *flags]), width, "quiet", 2)
        return [*rows, *paragraph(item.note, width, "", 4)] if item.note else rows
