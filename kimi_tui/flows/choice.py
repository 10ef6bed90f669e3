"""Reads the branch that a model chose: strict in `parse_choice`, forgiving in `match_choice`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

_OPEN, _CLOSE = "<choice>", "</choice>"

# At most a few blanks inside a tag: an endless run of them must not make the search slow.
_TAG = re.compile(r"<[ \t]{0,4}(?P<close>/?)[ \t]{0,4}choice[ \t]{0,4}(?:>|\Z)", re.IGNORECASE)
_THINKING = re.compile(r"<(?P<close>/?)think(?:ing)?>", re.IGNORECASE)
_INNER_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_ASCII_BRACKETS = str.maketrans("＜＞／〈〉", "<>/<>")
"""One for one, so that positions stay the same."""


def parse_choice(text: str) -> str | None:
    """What stands between the last `<choice>` and `</choice>` that hold no other tag, or None."""
    end = len(text or "")
    while (end := text.rfind(_CLOSE, 0, end)) >= 0:
        start = text.rfind("<", 0, end)
        if start >= 0 and text.startswith(_OPEN, start):
            return text[start + len(_OPEN) : end].strip()
    return None


def match_choice(text: str, labels: Sequence[str]) -> str | None:
    """The label that the last choice in `text` means, or None.

    Case, blanks, full-width brackets, quotes, emphasis, inner tags and final punctuation are forgiven as long as
    only one label fits. A choice inside `<think>` does not count.
    """
    said = last_choice(text)
    if said is None:
        return None
    for fold in _FOLDS:
        fitting = [label for label in labels if fold(label) == fold(said)]
        if fitting and fold(said):
            return fitting[0] if len(fitting) == 1 else None
    return None


def last_choice(text: str) -> str | None:
    """What the last choice in `text` says, literally; tags may be written carelessly."""
    said, opened = None, None
    text = _without_thinking(text).rstrip()
    for tag in _TAG.finditer(text.translate(_ASCII_BRACKETS)):
        if not tag["close"]:
            opened = tag.end()
        elif opened is not None:
            said, opened = text[opened : tag.start()].strip(), None
    return said


def _without_thinking(text: str) -> str:
    """The text after and between thinking that was sent inline.

    An unclosed `<think>` runs to the end; a lone `</think>` ends thinking whose opening tag the server swallowed.
    """
    kept, position, depth = [], 0, 0
    for tag in _THINKING.finditer(text):
        if not depth and not tag["close"]:
            kept.append(text[position : tag.start()])
        depth = max(0, depth - 1) if tag["close"] else depth + 1
        position = tag.end() if tag["close"] else position
    return "".join(kept) + (text[position:] if not depth else "")


def _same(text: str) -> str:
    return text.strip()


def _loose(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", _INNER_TAG.sub("", text)).casefold().split())


def _bare(text: str) -> str:
    loose = _loose(text)
    inside = [index for index, char in enumerate(loose) if char.isalnum()]
    return loose[inside[0] : inside[-1] + 1] if inside else ""


_FOLDS: tuple[Callable[[str], str], ...] = (_same, _loose, _bare)
"""From strict to loose: the first under which some label fits decides, so `C++` and `C` stay apart."""
