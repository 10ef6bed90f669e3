"""One row of text: literal, measured in cells, and the short figures that stand at its end."""

from __future__ import annotations

import re
import time

from rich.cells import cell_len, set_cell_size

from kimi_tui.ui.text import clean

_FIGURE = re.compile(r"(?<= )~?\d[\d.]*[kMG]?$")
_DROPPED = {"\x1b": "␛", "\r": "␍", "\x08": "␈", "\x9b": "‹009B›"}


def literal(text: str) -> str:
    """`text` as one harmless row."""
    return clean(text).replace("\n", " ⏎ ")


def exact(text: str) -> str:
    """Like `literal`, but nothing is dropped: for commands and changes, which must read as what they are."""
    return literal("".join(_DROPPED.get(sign, sign) for sign in text))


def cut(text: str, cells: int) -> str:
    """At most `cells` cells of `text`, with an ellipsis where something is missing."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…"


def cut_start(text: str, cells: int) -> str:
    """Like `cut`, but keeps the end: for paths, whose last part tells them apart."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    kept = text
    while kept and cell_len(kept) > cells - 1:
        kept = kept[max(1, (cell_len(kept) - cells) // 2) :]
    return "…" + kept


def fit(text: str, cells: int) -> str:
    """Exactly `cells` cells."""
    return set_cell_size(cut(text, cells), max(0, cells))


def wrap(text: str, cells: int) -> list[str]:
    """`text` in rows of at most `cells` cells, broken at blanks where there are any. Never empty."""
    if cells <= 0:
        return [""]
    rows: list[str] = []
    for line in text.split("\n"):
        rows.extend(_wrap_line(literal(line), cells))
    return rows


def _wrap_line(line: str, cells: int) -> list[str]:
    rows = []
    while cell_len(line) > cells:
        head = set_cell_size(line, cells)
        while cell_len(head) > cells or not line.startswith(head.rstrip(" ")):
            head = head[:-1]
        head = head.rstrip(" ") or line[:1]
        head = line[: _gap(line, len(head))] or head
        rows.append(head)
        line = line[len(head) :].lstrip(" ")
    return [*rows, line]


def _gap(line: str, room: int) -> int:
    """The blank to break at, not after `room`; 0 where there is none. A figure and its unit stay together."""
    blank = max(0, line.rfind(" ", 0, room + 1))
    unit = line[blank + 1 : blank + 2].isalpha()
    before = max(0, line.rfind(" ", 0, blank)) if unit and _FIGURE.search(line, 0, blank) else 0
    return before or blank


def count(number: int) -> str:
    """`940`, `1.5k`, `61k`, `1.2M`: at most five signs."""
    value, unit = _scaled(abs(number), ("", "k", "M", "G"))
    figure = f"{value:.0f}" if not unit or value >= 99.95 else f"{value:.1f}".removesuffix(".0")
    return ("-" if number < 0 else "") + figure + unit


def delta(number: int) -> str:
    """A signed count, with a real minus sign."""
    return f"+{count(number)}" if number >= 0 else f"−{count(-number)}"


def size(number: int) -> str:
    """Bytes for people: `812 B`, `4.1 KB`, `12 MB`."""
    value, unit = _scaled(number, ("B", "KB", "MB", "GB", "TB"))
    return f"{value:.0f} {unit}" if unit == "B" or value >= 9.95 else f"{value:.1f} {unit}"


def _scaled(number: int, units: tuple[str, ...]) -> tuple[float, str]:
    """The number in the largest unit that leaves at least one whole."""
    value, step = float(number), 0
    while value >= 999.5 and step < len(units) - 1:
        value, step = value / 1000, step + 1
    return value, units[step]


def ago(at: float | None, now: float | None = None) -> str:
    """`now`, `40 s`, `2 min`, `3 h`, `5 d`; empty when the time is unknown."""
    if at is None:
        return ""
    seconds = max(0.0, (time.time() if now is None else now) - at)
    if seconds < 5:
        return "now"
    for limit, divisor, unit in ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // divisor)} {unit}"
    return f"{int(seconds // 86400)} d"


def lasted(seconds: float) -> str:
    """Whole seconds: `8s`, `3m 05s`, `2h 10m`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    if not minutes:
        return f"{rest}s"
    return f"{minutes}m {rest:02d}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02d}m"


def plural(number: int, one: str, many: str = "") -> str:
    """`1 step`, `3 steps`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def duration(seconds: float | None) -> str:
    """`0.1s`, `12s`, `3m 05s`, `2h 10m`."""
    if seconds is None:
        return ""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02d}m"
