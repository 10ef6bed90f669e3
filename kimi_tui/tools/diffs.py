"""A change to a file as the approval and the card draw it: only the lines around it."""

from __future__ import annotations

import difflib
import re

from kimi_tui.protocol.views import DiffView
from kimi_tui.tools.text import visible

CONTEXT = 3
"""Equal lines that are kept on either side."""
COMPARED = 2000
"""Lines up to which the changed lines are counted exactly."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def change(path: str, before: str, after: str) -> DiffView:
    """The two sides without the equal beginning and end. Line endings are left out unless they are all that changed;
    control codes and bytes that do not decode come as marks."""
    plain = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    old, new = plain if plain[0] != plain[1] else (before, after)
    left, right = _LINE.findall(visible(old)), _LINE.findall(visible(new))
    start = _common(left, right)
    end = _common(left[start:][::-1], right[start:][::-1])
    first = max(0, start - CONTEXT)
    keep = max(0, end - CONTEXT)
    return DiffView(
        path,
        "".join(left[first : len(left) - keep]),
        "".join(right[first : len(right) - keep]),
        first + 1,
    )


def _common(left: list[str], right: list[str]) -> int:
    pairs = zip(left, right, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))


def counts(diff: DiffView) -> str:
    """`+4 −1`: lines added and removed."""
    left, right = _LINE.findall(diff.before), _LINE.findall(diff.after)
    if len(left) + len(right) > COMPARED:
        return f"+{len(right)} −{len(left)}"
    added = removed = 0
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            removed, added = removed + i2 - i1, added + j2 - j1
    return f"+{added} −{removed}"
