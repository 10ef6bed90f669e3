"""The search of Grep where there is no `rg`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kimi_tui.tools.glob_pattern import expand, matcher
from kimi_tui.tools.paths import contents
from kimi_tui.tools.text_file import SNIFF, binary_kind, coding_of
from kimi_tui.tools.walk import walk

SIZE_LIMIT = 8 << 20
"""Bytes of a file that is searched."""

Shown = tuple[int, str, bool]
"""Line number, text, and whether it is a match (or else context)."""


def search(
    target: Path, expression: re.Pattern[str], *, glob: str | None, before: int, after: int, multiline: bool
) -> Iterator[tuple[str, int, list[Shown]]]:
    """For each file with matches: its path below `target` (empty for `target` itself), their number, the lines."""
    names: Iterable[str] = walk(target) if target.is_dir() else [""]
    for name in names:
        if glob is None or _fits(glob, name or target.name):
            text = _text(target / name if name else target)
            hits = _hits(expression, text, multiline)
            if hits:
                yield name, len(hits), list(_around(text.split("\n"), {n for hit in hits for n in hit}, before, after))


def _fits(glob: str, name: str) -> bool:
    wanted, negated = (glob[1:], True) if glob.startswith("!") else (glob, False)
    subject = name if "/" in wanted else name.rpartition("/")[2]
    return any(matcher(pattern)(subject) for pattern in expand(wanted)) != negated


def _text(path: Path) -> str:
    """Empty for what cannot be read as text."""
    try:
        if path.stat().st_size > SIZE_LIMIT:
            return ""
        data = contents(path)
        if binary_kind(data[:SNIFF]):
            return ""
        return coding_of(data).decode(data).replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return ""


def _hits(expression: re.Pattern[str], text: str, multiline: bool) -> list[range]:
    """The line numbers, from 0, of each match."""
    if multiline:
        return [
            range(text.count("\n", 0, match.start()), text.count("\n", 0, max(match.start(), match.end() - 1)) + 1)
            for match in expression.finditer(text)
        ]
    lines = text.removesuffix("\n").split("\n") if text else []
    return [range(n, n + 1) for n, line in enumerate(lines) for _ in expression.finditer(line)]


def _around(lines: list[str], hits: set[int], before: int, after: int) -> Iterator[Shown]:
    wanted = {n for hit in hits for n in range(max(0, hit - before), min(len(lines), hit + after + 1))}
    for number in sorted(wanted):
        yield number + 1, lines[number], number in hits
