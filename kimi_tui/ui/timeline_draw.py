"""How a row of the timeline looks: marks, branch lines, labels and figures, cut to the width of the sidebar."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kimi_tui.protocol.views import SwitchView, TimelineRow
from kimi_tui.ui.cells import ago, count, delta, literal, plural
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.tones import Span, spread

WORDS = {
    "revert": "you went back",
    "dmail": "D-Mail",
    "compact": "compacted",
    "clear": "cleared",
    "prepend": "system prompt set",
    "restore": "restored",
    "undo": "undone",
    "redo": "redone",
    "repair": "repaired",
    "prune": "pruned",
    "foreign": "changed elsewhere",
}


def switch_tone(switch: SwitchView | None) -> str:
    """Violet where memory was folded, amber where time moved."""
    return "fold" if switch and switch.why == "compact" else "moved"


def switch_mark(switch: SwitchView | None, marks: Marks) -> str:
    by_why = {
        "dmail": marks.dmail,
        "compact": marks.compact,
        "clear": marks.clear,
        "restore": marks.restore,
        "redo": marks.redo,
        "revert": marks.revert,
        "undo": marks.revert,
    }
    return by_why.get(switch.why if switch else "revert", marks.clear)


def switch_words(switch: SwitchView | None, marks: Marks) -> str:
    """`D-Mail 9→4`, `you went back 6→1`, `compacted`."""
    if switch is None:
        return ""
    words = WORDS[switch.why]
    ends = (switch.from_checkpoint, switch.to_checkpoint)
    if switch.why in ("compact", "clear", "prepend") or None in ends:
        return words
    return f"{words} {ends[0]}{marks.arrow}{ends[1]}"


def switch_figures(row: TimelineRow, marks: Marks) -> str:
    """What the jump did to the count: `180k→9.1k` for a compaction, else the difference."""
    switch = row.switch
    if switch and switch.why == "compact" and switch.tokens_before:
        return f"{count(switch.tokens_before)}{marks.arrow}{count(switch.tokens_after)}"
    freed = row.tokens
    if freed is None and switch and (switch.tokens_before or switch.tokens_after):
        freed = switch.tokens_after - switch.tokens_before
    return delta(freed) if freed else ""


@dataclass(frozen=True, slots=True)
class Folding:
    """What the list knows about a row and the row does not."""

    children: int = 0
    folded: bool = False
    hidden_tokens: int = 0
    oldest: bool = False
    """The oldest shown row of its branch, or of all."""


def draw(row: TimelineRow, folding: Folding, width: int, marks: Marks, clock: float | None = None) -> list[Span]:
    """A row without the cursor's column."""
    now = time.time() if clock is None else clock
    if row.kind == "switch":
        return _switch(row, width, marks, now)
    if row.kind == "rotation":
        return _rotation(row, folding, width, marks, now)
    return _checkpoint(row, folding, width, marks, now)


def _switch(row: TimelineRow, width: int, marks: Marks, now: float) -> list[Span]:
    tone = switch_tone(row.switch)
    left = [
        (f"{switch_mark(row.switch, marks)} ", tone),
        (switch_words(row.switch, marks) or literal(row.label), f"strong {tone}"),
    ]
    note = literal(row.switch.note) if row.switch and row.switch.note else ""
    if note and width >= 44:
        left.append((f"  {note}", "quiet"))
    return spread(left, _right(switch_figures(row, marks), tone, row.at, width, now), width)


def _rotation(row: TimelineRow, folding: Folding, width: int, marks: Marks, now: float) -> list[Span]:
    tone = "quiet" if row.at is None or now - row.at < 3600 else "faint"
    stub = marks.corner if folding.oldest else marks.stub
    if not folding.children:
        lane = f"{stub} "
    elif folding.folded:
        lane = f"{stub}{marks.folded}"
    else:
        lane = marks.branch
    name = literal(row.name or (row.file or row.label)).removesuffix(".gz").removesuffix(".jsonl")
    said = [ago(row.at, now)]
    if folding.children and width >= 34:
        said.insert(0, plural(folding.children, "step"))
    right = [(" · ".join(part for part in said if part), tone)]
    return spread([(f"{lane} ", "faint"), (name, tone)], right, width)


def _checkpoint(row: TimelineRow, folding: Folding, width: int, marks: Marks, now: float) -> list[Span]:
    gone = row.file is not None
    left: list[Span] = []
    if gone and row.depth:
        left.append(((marks.stub if folding.oldest else f"{marks.rail} "), "faint"))
    left.append((f"{marks.gone if gone else marks.point} ", "quiet" if gone else "now"))
    if row.checkpoint is not None:
        left.append((f"{row.checkpoint} ", "faint"))
    if row.name:
        left.append((f"{marks.named} {literal(row.name)}  ", "moved strong"))
    left.append((literal(row.label), _label_tone(row, gone)))
    if folding.folded and folding.children:
        left.append((f"  {marks.folded}{folding.children}", "quiet"))
    tokens = row.tokens
    if folding.folded and folding.hidden_tokens:
        tokens = (tokens or 0) + folding.hidden_tokens
    figure = "" if not tokens else delta(tokens) if row.exact else f"~{count(tokens)}"
    return spread(left, _right(figure, "faint" if gone else "quiet", row.at, width, now), width)


def _label_tone(row: TimelineRow, gone: bool) -> str:
    if row.name:
        return "quiet"
    return " ".join(tone for tone in ("strong" if row.turn else "", "quiet" if gone else "") if tone)


def _right(figure: str, tone: str, at: float | None, width: int, now: float) -> list[Span]:
    spans: list[Span] = [(figure, tone)] if figure else []
    if width >= 46 and at is not None:
        spans.append((f"{ago(at, now):>8}", "faint"))
    return spans
