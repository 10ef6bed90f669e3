"""Keeps a row in its columns whatever the terminal takes the widths of its signs to be.

Terminals disagree about emoji that are joined, coloured, flags or newer than they are, and about scripts whose letters
grow together. One of these in a row, and all that follows stands beside its place: the caret too, and what is painted
later leaves cells of what was there before. So each of them is given the cells that it was measured to have: they are
blanked, it is written into them, and the cursor is sent to where they end.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

_TAIL = "(?:[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u0300-\u036f]|\u200d[^\x00-\x1f\x7f])"
_SCRIPTS = "\u0900-\u109f\u1100-\u11ff\u1780-\u17ff\ua960-\ua97f\ud7b0-\ud7ff"
"""From Devanagari to Burmese, single jamo of Hangul, Khmer."""
_FLAGS = "\U0001f1e6-\U0001f1ff"
_BASES = "#*0-9\u00a9\u00ae\u203c-\u3299"
"""What becomes an emoji by what follows it."""
_UNSURE = re.compile(f"[\u200d\ufe0e\ufe0f{_SCRIPTS}\U0001f000-\U0001faff]")
_EMOJI = "\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
_PARTS = re.compile(
    f"[\x1b{_BASES}{_SCRIPTS}{_FLAGS}{_EMOJI}](?:"  # one set at the beginning: what is none of it is passed quickly
    "(?<=\x1b)[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # titles, links, the clipboard: nothing of them is on a row
    f"|(?<=[{_FLAGS}])[{_FLAGS}]?|(?<=[{_EMOJI}]){_TAIL}*|(?<=[{_SCRIPTS}])[{_SCRIPTS}]*{_TAIL}*|(?<=[{_BASES}]){_TAIL}+)"
)
KEEP, BACK = "\x1b7", "\x1b8"


def in_place(output: str) -> str:
    """The same output, with every sign of an unsure width held in its cells."""
    if output.isascii() or not _UNSURE.search(output):
        return output
    return _PARTS.sub(_held, output)


def _held(part: re.Match[str]) -> str:
    text = part[0]
    cells = 0 if text[0] == "\x1b" else cell_len(text)
    return f"{KEEP}{' ' * cells}{BACK}{text}{BACK}\x1b[{cells}C" if cells else text
