"""The difference of two texts as lines with their numbers, and how a terminal shows it: one column, or two when wide.

Only `\\n` divides lines, so a changed line end is a change that can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import Literal

from rich.cells import cell_len, chop_cells

from kimi_tui.protocol.views import DiffView
from kimi_tui.ui.cells import cut, exact, plural
from kimi_tui.ui.tones import Rows, Span

Kind = Literal["same", "removed", "added", "skipped"]
CONTEXT = 3
WIDE = 110
"""Cells from which on two columns are readable."""
OPEN_END = " ⟨no line end⟩"
"""Set behind a last line that does not end in a line break: so its coming and going is a change."""
MANY, TOO_MANY = 400, 3000
"""Changed lines above which pairing is coarser, and above which none is looked for: the screen does not wait."""


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
    goes_on: bool = False
    """The rest of a line that was too long for one row."""


@lru_cache(maxsize=64)
def diff_lines(view: DiffView, context: int = CONTEXT) -> Sequence[DiffLine]:
    """Changed lines with `context` equal ones around them. Kept, since cards are drawn again and again."""
    old, new = _split(view.before), _split(view.after)
    first = view.first_line
    lines: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            lines += [DiffLine("same", old[i], i + first, j1 + i - i1 + first) for i in range(i1, i2)]
        else:
            lines += _changed(old[i1:i2], new[j1:j2], i1 + first, j1 + first)
    return _near(lines, context)


def _split(text: str) -> list[str]:
    if not text:
        return []
    *lines, last = text.split("\n")
    return [*lines, last + OPEN_END] if last else lines


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
        many = i2 - head + j2 - head > MANY
        matcher = SequenceMatcher(None, old[head:i2], new[head:j2], autojunk=many)
        codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
    return [*codes, ("equal", i2, len(old), j2, len(new))] if tail else codes


def _changed(old: list[str], new: list[str], first_old: int, first_new: int) -> list[DiffLine]:
    pairs = [_differ(one, other) for one, other in zip(old, new, strict=False)]
    alone = [(None, None)] * abs(len(old) - len(new))
    marks = [*pairs, *alone]
    return [
        *(DiffLine("removed", text, old=first_old + i, changed=marks[i][0]) for i, text in enumerate(old)),
        *(DiffLine("added", text, new=first_new + i, changed=marks[i][1]) for i, text in enumerate(new)),
    ]


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
    keep = bytearray(len(lines) + context)
    for place, line in enumerate(lines):
        if line.kind != "same":
            keep[max(0, place - context) : place + context + 1] = b"\1" * (min(place, context) + context + 1)
    shown: list[DiffLine] = []
    for near, run in groupby(range(len(lines)), key=keep.__getitem__):
        places = list(run)
        if near or len(places) == 1:
            shown += [lines[place] for place in places]
        else:
            shown.append(DiffLine("skipped", count=len(places)))
    return shown if any(keep) else []


def counts(lines: Sequence[DiffLine]) -> tuple[int, int]:
    """Lines added and removed."""
    return sum(line.kind == "added" for line in lines), sum(line.kind == "removed" for line in lines)


# --- drawing -------------------------------------------------------------------------------------------------------

Pair = tuple[DiffLine | None, DiffLine | None]


def paired(lines: Sequence[DiffLine]) -> list[Pair]:
    """Old beside new, for two columns: what was removed stands opposite to what came in its place."""
    pairs: list[Pair] = []
    gone: list[DiffLine] = []
    come: list[DiffLine] = []
    for line in lines:
        if line.kind == "removed":
            gone.append(line)
        elif line.kind == "added":
            come.append(line)
        else:
            pairs += zip_longest(gone, come)
            gone, come = [], []
            pairs.append((line, line))
    return [*pairs, *zip_longest(gone, come)]


def shown(line: DiffLine) -> DiffLine:
    """The line as it can be drawn: tabs as blanks, everything else that is not plain text visible."""
    start, end = line.changed or (0, 0)
    head, middle, tail = (
        exact(part.expandtabs(4)) for part in (line.text[:start], line.text[start:end], line.text[end:])
    )
    changed = (len(head), len(head) + len(middle)) if line.changed else None
    return replace(line, text=head + middle + tail, changed=changed)


def room_for(numbers: int, width: int) -> int:
    """Cells for the text of a line in a column of that width."""
    return max(0, width - numbers - 3)


def folded(line: DiffLine, room: int) -> list[DiffLine]:
    """A shown line in as many rows as it needs: nothing that is approved may be out of sight."""
    if room < 4 or cell_len(line.text) <= room:
        return [line]
    rows, at = [], 0
    for piece in chop_cells(line.text, room):
        start, end = (max(0, place - at) for place in line.changed or (0, 0))
        inside = (min(start, len(piece)), min(end, len(piece)))
        rows.append(replace(line, text=piece, changed=inside if line.changed else None, goes_on=at > 0))
        at += len(piece)
    return rows


def laid_out(lines: Sequence[DiffLine], numbers: int, width: int) -> list[DiffLine] | list[Pair]:
    """Shown lines as rows: two columns where they are wide enough for every line and both have something to say."""
    half = room_for(numbers, (width - 1) // 2)
    if width >= WIDE and all(counts(lines)) and all(cell_len(line.text) <= half for line in lines):
        return paired(lines)
    room = room_for(numbers, width)
    return [row for line in lines for row in folded(line, room)]


def row_spans(row: DiffLine | Pair, numbers: int, width: int) -> list[Span]:
    """A laid out row, drawn."""
    return line_spans(row, numbers, width) if isinstance(row, DiffLine) else pair_spans(row, numbers, width)


def diff_rows(lines: Sequence[DiffLine], width: int) -> Rows:
    """All rows at once, for differences that are short."""
    lines = [shown(line) for line in lines]
    numbers = digits(lines)
    return [row_spans(row, numbers, width) for row in laid_out(lines, numbers, width)]


def digits(lines: Sequence[DiffLine]) -> int:
    """Cells that the line numbers need."""
    return len(str(max((max(line.old or 0, line.new or 0) for line in lines), default=0)))


def line_spans(line: DiffLine, numbers: int, width: int) -> list[Span]:
    """A row of the one-column form: the number on its own side, the sign, the text."""
    return _side(line, line.old if line.kind == "removed" else line.new, numbers, width)


def pair_spans(pair: Pair, numbers: int, width: int) -> list[Span]:
    """A row of the two-column form."""
    left, right = pair
    half = (width - 1) // 2
    if left is not None and left.kind == "skipped":
        return _side(left, None, numbers, width)
    spans = _side(left, left.old if left else None, numbers, half)
    used = sum(cell_len(text) for text, _ in spans)
    return [*spans, (" " * (half - used + 1), ""), *_side(right, right.new if right else None, numbers, half)]


def _side(line: DiffLine | None, number: int | None, numbers: int, width: int) -> list[Span]:
    if line is None:
        return []
    if line.kind == "skipped":
        return [(cut(f"{'':>{numbers}} ⋯ {plural(line.count, 'line')}", width), "faint")]
    sign, tone = {"added": ("+", "good"), "removed": ("-", "bad")}.get(line.kind, (" ", ""))
    lead = cut(f"{'' if line.goes_on else number or '':>{numbers}} ", width)
    room = room_for(numbers, width)
    return [(lead, "faint"), (f"{' ' if line.goes_on else sign} " if room else "", tone), *_text(line, room)]


def _text(line: DiffLine, room: int) -> list[Span]:
    """The line's own text on its ground, filled to the end of the column, what changed set off."""
    ground = line.kind if line.kind in ("added", "removed") else ""
    pieces = [line.text]
    if line.changed:
        start, end = line.changed
        pieces = [line.text[:start], line.text[start:end], line.text[end:]]
    spans: list[Span] = []
    for place, piece in enumerate(pieces):
        shown = cut(piece, room)
        spans.append((shown, f"{ground} strong" if place == 1 else ground))
        room -= cell_len(shown)
    return [*spans, (" " * room, ground)] if room > 0 else spans
