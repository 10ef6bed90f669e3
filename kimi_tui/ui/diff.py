"""The difference of two texts as lines with their numbers, and how a terminal shows it: one column, or two when wide.

Only `\\n` divides lines, so a changed line end is a change that can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from rich.cells import cell_len

from kimi_tui.protocol.views import DiffView
from kimi_tui.ui.cells import cut, exact, fit, plural
from kimi_tui.ui.tones import Rows, Span

Kind = Literal["same", "removed", "added", "skipped"]
CONTEXT = 3
WIDE = 110
"""Cells from which on two columns are readable."""
TOO_MANY = 3000
"""Changed lines above which no pairing is looked for: it would take longer than anyone wants to wait."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference. `skipped` stands for `count` equal lines that are left out."""

    kind: Kind
    text: str = ""
    old: int | None = None
    new: int | None = None
    count: int = 0
    changed: tuple[int, int] | None = None
    """Where the line differs from its partner on the other side, as character positions of `text`."""


def diff_lines(view: DiffView, context: int = CONTEXT) -> list[DiffLine]:
    """Changed lines with `context` equal ones around them."""
    old, new = _split(view.before), _split(view.after)
    lines: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            lines += [DiffLine("same", old[i], i + 1, j1 + i - i1 + 1) for i in range(i1, i2)]
        else:
            lines += _changed(old, new, (i1, i2), (j1, j2))
    return _near(lines, context)


def _split(text: str) -> list[str]:
    if not text:
        return []
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else [*lines[:-1], lines[-1] + "⊘"]


def _opcodes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Like difflib's, but equal ends are set aside first and a hopeless middle is replaced as a whole."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    i2, j2 = len(old) - tail, len(new) - tail
    codes = [("equal", 0, head, 0, head)] if head else []
    if i2 - head + j2 - head > TOO_MANY:
        codes.append(("replace", head, i2, head, j2))
    else:
        matcher = SequenceMatcher(None, old[head:i2], new[head:j2], autojunk=False)
        codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
    return [*codes, ("equal", i2, len(old), j2, len(new))] if tail else codes


def _changed(old: list[str], new: list[str], gone: tuple[int, int], come: tuple[int, int]) -> list[DiffLine]:
    pairs = [
        _differ(old[i], new[j]) if i is not None and j is not None else (None, None)
        for i, j in zip_longest(range(*gone), range(*come))
    ]
    removed = [DiffLine("removed", old[i], old=i + 1, changed=pairs[i - gone[0]][0]) for i in range(*gone)]
    return removed + [DiffLine("added", new[j], new=j + 1, changed=pairs[j - come[0]][1]) for j in range(*come)]


def _differ(old: str, new: str) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """What lies between the common beginning and end; nothing when the two lines have little in common."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    if (head + tail) * 3 < max(len(old), len(new)):
        return None, None
    return (head, len(old) - tail), (head, len(new) - tail)


def _near(lines: list[DiffLine], context: int) -> list[DiffLine]:
    """Leave out equal lines that are far from any change."""
    keep: set[int] = set()
    for place, line in enumerate(lines):
        if line.kind != "same":
            keep.update(range(max(0, place - context), min(len(lines), place + context + 1)))
    shown: list[DiffLine] = []
    last = -1
    for place in sorted(keep):
        if place > last + 1:
            shown.append(DiffLine("skipped", count=place - last - 1))
        shown.append(lines[place])
        last = place
    rest = len(lines) - 1 - last
    return [*shown, DiffLine("skipped", count=rest)] if keep and rest else shown


def counts(lines: list[DiffLine]) -> tuple[int, int]:
    """Lines added and removed."""
    return sum(line.kind == "added" for line in lines), sum(line.kind == "removed" for line in lines)


# --- drawing -------------------------------------------------------------------------------------------------------


def diff_rows(lines: list[DiffLine], width: int) -> Rows:
    """Two columns when there is room and both have something to say, else one."""
    added, removed = counts(lines)
    return _two_columns(lines, width) if width >= WIDE and added and removed else _one_column(lines, width)


def _digits(lines: list[DiffLine]) -> int:
    return len(str(max((max(line.old or 0, line.new or 0) for line in lines), default=0)))


def _one_column(lines: list[DiffLine], width: int) -> Rows:
    digits = _digits(lines)
    return [_line(line, digits, width) for line in lines]


def _line(line: DiffLine, digits: int, width: int) -> list[Span]:
    if line.kind == "skipped":
        return [(cut(f"{'':>{digits}} ⋯ {plural(line.count, 'line')}", width), "faint")]
    number = line.new if line.kind != "removed" else line.old
    sign, tone = {"same": (" ", ""), "added": ("+", "good"), "removed": ("-", "bad")}[line.kind]
    lead: list[Span] = [(f"{number:>{digits}} ", "faint"), (f"{sign} ", tone)]
    return [*lead, *_text(line, max(0, width - digits - 3))]


def _text(line: DiffLine, room: int) -> list[Span]:
    """The line's own text on its ground, filled to the end of the column, what changed set off."""
    ground = line.kind if line.kind in ("added", "removed") else ""
    pieces = [line.text]
    if line.changed:
        start, end = line.changed
        pieces = [line.text[:start], line.text[start:end], line.text[end:]]
    spans: list[Span] = []
    for place, piece in enumerate(pieces):
        shown = cut(exact(piece.expandtabs(4)), room)
        spans.append((shown, f"{ground} strong" if place == 1 else ground))
        room -= cell_len(shown)
    return [*spans, (" " * room, ground)] if room > 0 else spans


def _two_columns(lines: list[DiffLine], width: int) -> Rows:
    digits, half = _digits(lines), (width - 1) // 2
    rows: Rows = []
    gone: list[DiffLine] = []
    come: list[DiffLine] = []
    for line in [*lines, DiffLine("same")]:
        if line.kind in ("removed", "added"):
            (gone if line.kind == "removed" else come).append(line)
            continue
        rows += [_pair(left, right, digits, half) for left, right in zip_longest(gone, come)]
        gone, come = [], []
        if line.kind == "skipped":
            rows.append(_line(line, digits, half))
        elif line.old:
            rows.append(_pair(line, line, digits, half))
    return rows


def _pair(left: DiffLine | None, right: DiffLine | None, digits: int, half: int) -> list[Span]:
    return [
        *_side(left, left.old if left else None, digits, half),
        (" ", ""),
        *_side(right, right.new if right else None, digits, half),
    ]


def _side(line: DiffLine | None, number: int | None, digits: int, width: int) -> list[Span]:
    if line is None or number is None:
        return [(" " * width, "")]
    sign, tone = {"added": ("+", "good"), "removed": ("-", "bad")}.get(line.kind, (" ", ""))
    lead = f"{number:>{digits}} "
    spans: list[Span] = [(lead, "faint"), (f"{sign} ", tone), *_text(line, max(0, width - digits - 3))]
    used = sum(cell_len(text) for text, _ in spans)
    return [*spans, (fit("", width - used), "")]
