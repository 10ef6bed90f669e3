"""What a text is made of: words by length, numbers, marks, line breaks, characters of wide scripts.

Works on UTF-8 bytes with the few operations that run at memory speed, so that a megabyte costs milliseconds.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Census(NamedTuple):
    words: Counter[int]
    """Length of a word, or of a part of a camelCase word → how many."""
    capitals: Counter[int]
    """The same of those in capitals alone, which are in no `words`; a single capital is a word."""
    numbers: Counter[int]
    """Length of a number → how many."""
    marks: Counter[int]
    """Length of a run of punctuation → how many."""
    apart: int
    """Runs of punctuation that stand after a blank."""
    breaks: int
    """Line ends, with the blank lines and the indentation after them."""
    gaps: int
    """Runs of blanks inside a line."""
    ideographs: int
    wide_marks: int
    syllables: int
    """Japanese and Korean."""
    others: int


_LOWER, _UPPER, _DIGIT, _MARK, _BLANK, _BREAK, _OTHER = b"aA0. \nx"


def _kind(byte: int) -> int:
    character = chr(byte)
    if byte >= 128:
        return _OTHER
    if character.isalpha():
        return _LOWER if character.islower() else _UPPER
    if character.isdigit():
        return _DIGIT
    if character in "\n\v\f\r":
        return _BREAK
    return _BLANK if character.isspace() or byte < 32 else _MARK


def _table(*kept: int) -> bytes:
    """Keeps some kinds and makes blanks of all others."""
    return bytes(kind if kind in kept else _BLANK for kind in range(256))


_KINDS = bytes(map(_kind, range(256)))
_LETTERS, _CAPITALS, _DIGITS, _MARKS = _table(_LOWER, _UPPER), _table(_UPPER), _table(_DIGIT), _table(_MARK)
_IDEOGRAPH_LEADS = bytes(range(0xE4, 0xEA))
_HANGUL_LEADS = bytes(range(0xEA, 0xEE))
_ALL_LEADS = bytes(range(0xC2, 0xF5))


_NOT_WIDE = {"ideographs": 0, "wide_marks": 0, "syllables": 0, "others": 0}


def census(text: str) -> Census:
    data = text.encode("utf-8", "replace")
    kinds = data.translate(_KINDS)
    letters = kinds.translate(_LETTERS).replace(b"aA", b"a A").replace(b"AAa", b"A Aa")
    capitals = Counter(map(len, letters.translate(_CAPITALS).split()))
    del capitals[1]
    return Census(
        words=Counter(map(len, letters.split())) - capitals,
        capitals=capitals,
        numbers=Counter(map(len, kinds.translate(_DIGITS).split())),
        marks=Counter(map(len, kinds.translate(_MARKS).split())),
        apart=kinds.count(b" ."),
        breaks=_breaks(kinds),
        gaps=sum(kinds.count(kind + b"  ") for kind in (b"a", b"A", b"0", b".", b"x")),
        **(_NOT_WIDE if text.isascii() else _wide(data)),
    )


def _breaks(kinds: bytes) -> int:
    filled = kinds.translate(None, b" ").split(b"\n")
    return sum(map(bool, filled)) - bool(filled[-1]) + (not filled[0] and len(filled) > 1)


def _wide(data: bytes) -> dict[str, int]:
    characters = _count(data, _ALL_LEADS)
    ideographs = _count(data, _IDEOGRAPH_LEADS) + data.count(b"\xf0\xa0")
    wide_marks = data.count(b"\xe3\x80") + data.count(b"\xef\xbc") + data.count(b"\xef\xbd")
    kana = data.count(b"\xe3\x81") + data.count(b"\xe3\x82") + data.count(b"\xe3\x83")
    syllables = kana + _count(data, _HANGUL_LEADS)
    others = characters - ideographs - wide_marks - syllables
    return {"ideographs": ideographs, "wide_marks": wide_marks, "syllables": syllables, "others": others}


def _count(data: bytes, of: bytes) -> int:
    return len(data) - len(data.translate(None, of))
