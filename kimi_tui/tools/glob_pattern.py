"""Glob patterns over relative paths: `*`, `?`, `[…]`, `{a,b}`, and `**` for any number of folders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

BRACES_MOST = 64
_MAGIC = re.compile(r"[*?\[]")


def expand(pattern: str) -> list[str]:
    """`a.{py,md}` → `a.py`, `a.md`; at most `BRACES_MOST` patterns."""
    match = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    found: list[str] = []
    for choice in match[1].split(","):
        found += expand(pattern[: match.start()] + choice + pattern[match.end() :])
    return found[:BRACES_MOST]


def is_magic(text: str) -> bool:
    return _MAGIC.search(text) is not None


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a whole path fits. Composed characters fit however they are spelled."""
    regex = re.compile(_translate(composed(pattern)), re.DOTALL)
    return lambda path: regex.fullmatch(composed(path)) is not None


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _translate(pattern: str) -> str:
    parts = pattern.split("/")
    pieces: list[str] = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            pieces.append(".*" if last else "(?:[^/]+/)*")
        else:
            pieces.append(_segment(part) + ("" if last else "/"))
    return "".join(pieces)


def _segment(part: str) -> str:
    pieces, at = [], 0
    while at < len(part):
        piece, at = _piece(part, at)
        pieces.append(piece)
    return "".join(pieces)


def _piece(part: str, at: int) -> tuple[str, int]:
    """One element of a segment as a regular expression, and where the next one begins."""
    sign = part[at]
    if sign == "*":
        return "[^/]*", at + len(part[at:]) - len(part[at:].lstrip("*"))
    if sign == "?":
        return "[^/]", at + 1
    close = part.find("]", at + 2) if sign == "[" else -1
    if close < 0:
        return re.escape(sign), at + 1
    body = part[at + 1 : close]
    negated = body[0] in "!^"
    inside = body[negated:].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    inside = inside.replace("&&", r"&\&").replace("~~", r"~\~").replace("||", r"|\|")
    try:
        re.compile(f"[{inside}]")
    except re.error:
        return re.escape(part[at : close + 1]), close + 1
    return (f"[^/{inside}]" if negated else f"[{inside}]"), close + 1
