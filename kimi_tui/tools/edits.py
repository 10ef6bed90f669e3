"""Replacing text in a text: where it fits once, or everywhere; with the line endings that are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kimi_tui.tools.text import one_line

_NEWLINE = r"(?:\r\n|(?<!\r)\n)"


class EditFault(ValueError):
    """An edit does not fit. `str(fault)` says why, for the model."""


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str
    replace_all: bool = False


def apply(text: str, edits: Sequence[Replacement]) -> tuple[str, int]:
    """All edits one after the other: the new text and how many places were changed. Raises EditFault, none done."""
    count = 0
    for number, edit in enumerate(edits, 1):
        try:
            text, places = _one(text, edit)
        except EditFault as fault:
            which = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""
            raise EditFault(f"{which}{fault} Nothing was changed.") from None
        count += places
    return text, count


def _one(text: str, edit: Replacement) -> tuple[str, int]:
    if edit.old == edit.new:
        raise EditFault("`old` and `new` are the same.")
    exact = "\r" in edit.old and edit.old in text
    pattern = re.compile(re.escape(edit.old) if exact else _flexible(edit.old))
    spans = _spans(pattern, text, overlapping=not edit.replace_all)
    if not spans:
        raise EditFault(_missing(text, edit))
    if len(spans) > 1 and not edit.replace_all:
        raise EditFault(_ambiguous(text, spans))
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], _fitted(edit.new, text, start, stop, verbatim=exact)]
        end = stop
    return "".join([*pieces, text[end:]]), len(spans)


def _flexible(old: str) -> str:
    """Each line break of `old` fits a line break of either kind."""
    return _NEWLINE.join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n"))


def _spans(pattern: re.Pattern[str], text: str, *, overlapping: bool) -> list[tuple[int, int]]:
    found, at = [], 0
    while match := pattern.search(text, at):
        found.append(match.span())
        at = match.start() + 1 if overlapping else max(match.end(), match.start() + 1)
    return found


def _fitted(new: str, text: str, start: int, stop: int, *, verbatim: bool) -> str:
    """`new` with the line endings of the place it comes to."""
    if "\n" not in new or (verbatim and "\r" in new):
        return new
    return new.replace("\r\n", "\n").replace("\n", _ending_at(text, start, stop))


def _ending_at(text: str, start: int, stop: int) -> str:
    """The line ending inside the place, else the one after it, else the one before it."""
    at = text.find("\n", start)
    if at < 0:
        at = text.rfind("\n", 0, start)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _ambiguous(text: str, spans: Sequence[tuple[int, int]]) -> str:
    numbers = [str(_line(text, start)) for start, _ in spans]
    where = (
        " and ".join(numbers) if len(numbers) == 2 else ", ".join(numbers[:10]) + (" …" if len(numbers) > 10 else "")
    )
    return (
        f"`old` fits {len(spans)} times, at lines {where}. "
        "Give more of the text around it so that it fits once, or set replace_all."
    )


def _missing(text: str, edit: Replacement) -> str:
    if edit.new.strip() and re.search(_flexible(edit.new), text):
        return f"`old` is not in the file, but `new` already is, at line {_position(text, edit.new)}."
    near = _near(text, edit.old)
    if near is None:
        return "`old` is not in the file. Read the file and copy the text exactly, blanks and all."
    number, line = near
    return (
        f"`old` is not in the file as it stands. Its first line is like line {number}, which reads: "
        f"{one_line(line)!r}. Compare blanks and the lines after it."
    )


def _position(text: str, wanted: str) -> int:
    match = re.search(_flexible(wanted), text)
    return _line(text, match.start()) if match else 0


def _near(text: str, old: str) -> tuple[int, str] | None:
    """The first line that equals the first real line of `old` but for blanks."""
    wanted = next((" ".join(line.split()) for line in old.splitlines() if line.strip()), "")
    lines = enumerate(text.split("\n"), 1)
    return next(((number, line) for number, line in lines if wanted and " ".join(line.split()) == wanted), None)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
