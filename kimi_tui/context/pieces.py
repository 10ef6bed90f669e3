"""What a text is made of, in the pieces that tokenizers cut it into first: words, numbers, marks, line breaks.

Works on UTF-8 bytes, with each byte replaced by its kind: so there are few different pieces, and what one of them
counts as is worked out once.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import pairwise

from kimi_tui.context.letters import FREQUENT, PAIRS

Counts = dict[str, int]
"""Name of a kind of piece → how many. The names are those of the rows of the table of costs."""

LONGEST_WORD, LONGEST_NUMBER, LONGEST_MARKS = 10, 4, 4
"""Characters that have a row of their own; marks count as one as long as they are of the same sort."""

RUN = 16
"""Small letters in a row beyond which it is no word."""

_LONGEST_PAIRED = 24
"""Letters. What is longer is no word, and its pairs say nothing."""


def _kind(byte: int) -> str:
    character = chr(byte)
    if byte < 128:
        return _ascii_kind(character)
    for first, kind in _LEADS:
        if byte >= first:
            return kind
    return " "


_LEADS = (
    (0xF0, "e"),  # emoji, rare ideographs
    (0xEF, "w"),  # full-width forms
    (0xEA, "g"),  # Korean
    (0xE4, "h"),  # Chinese
    (0xE3, "k"),  # Japanese
    (0xE2, "w"),  # punctuation, arrows, boxes
    (0xD4, "o"),
    (0xD0, "c"),  # Cyrillic
    (0xCC, "o"),
    (0xC3, "l"),  # accented Latin
    (0xC2, "w"),
    (0xC1, "b"),
)
"""From which first byte of a character on its script begins."""

_SORTS = {"_": "_", **dict.fromkeys("\"'`", '"'), **dict.fromkeys("()[]{}<>", "("), **dict.fromkeys("-=*#~", "-")}
_SORTS |= {**dict.fromkeys("/\\", "/"), **dict.fromkeys(".,;:", ".")}


def _ascii_kind(character: str) -> str:
    if character.isalpha():
        return "a" if character.islower() else "A"
    if character.isdigit():
        return "0"
    if character in "\n\v\f\r":
        return "\n"
    return " " if character <= " " else _SORTS.get(character, "!")


_KINDS = "".join(map(_kind, range(256))).encode()
_LATER_BYTES = bytes(range(0x80, 0xC0))
_LETTERS = "".join(chr(byte).lower() if chr(byte).isalpha() and byte < 128 else " " for byte in range(256)).encode()
_FREQUENT = re.compile(f"[{FREQUENT}]+")
_PIECES = re.compile(
    rb"a{17,400}| ?A?a{1,16}| ?A{1,40}(?!a)|A|0{1,40}| ?[-_\"(/.!]{1,40}\n{0,40}| {0,80}\n{1,80}| {1,80}(?= )| "
    rb"|h{1,40}|[kg]{1,40}| ?[cl]{1,40}|b{1,40}|."
)


def pieces(text: str) -> Counts:
    data = text.encode("utf-8", "replace")
    counts = defaultdict[str, int](int)
    for piece, number in Counter(_PIECES.findall(_kinds(data, text.isascii()))).items():
        for kind, each in _counted(piece):
            counts[kind] += each * number
    words = Counter(data.translate(_LETTERS).split())
    counts["tenth of a seam"] = sum(_seams(word) * number for word, number in words.items()) // 10
    if counts["ideograph"]:
        counts["frequent"] = sum(map(len, _FREQUENT.findall(text)))
        counts["ideograph"] -= counts["frequent"]
    return counts


def _kinds(data: bytes, ascii_only: bool) -> bytes:
    """One byte a character."""
    if ascii_only:
        return data.translate(_KINDS)
    data = data.replace(b"\xe3\x80", b"\xe2\x80")  # punctuation of Chinese and Japanese
    for boxes in (b"\xe2\x94", b"\xe2\x95", b"\xe2\x96"):
        data = data.replace(boxes, _BOX)
    return data.translate(_KINDS, _LATER_BYTES)


_BOX = b"\xc1"
"""Begins no character: stands for those that lines, frames and bars are drawn with."""


@lru_cache(maxsize=1 << 15)
def _seams(word: bytes) -> int:
    """Hundredths of seams that are to be expected between a word's letters."""
    if len(word) > _LONGEST_PAIRED:
        return 0
    return sum(PAIRS[first - 97][second - 97] for first, second in pairwise(word))


@lru_cache(maxsize=1 << 12)
def _counted(piece: bytes) -> tuple[tuple[str, int], ...]:
    """The rows that such a piece counts in, and how often in each."""
    return tuple((kind, times) for kind, times in _rows(piece) if times)


def _rows(piece: bytes) -> tuple[tuple[str, int], ...]:
    bare = piece.strip(b" \n")
    if not bare:
        return ((_blank(piece), 1),)
    apart, length = piece[:1] == b" ", len(bare)
    match bare[:1]:
        case b"a" | b"A":
            return _word(bare.decode(), apart)
        case b"0":
            return ((f"number {min(length, LONGEST_NUMBER)}", 1), ("digit more", max(0, length - LONGEST_NUMBER)))
        case b"h":
            return ("ideograph", length), ("ideographs", 1)
        case b"b":
            return ("box", length), ("boxes", 1)
        case b"k" | b"g":
            return ("kana", bare.count(b"k")), ("hangul", bare.count(b"g")), ("syllables", 1)
        case b"c" | b"l":
            return ("cyrillic", bare.count(b"c")), ("accented", bare.count(b"l"))
        case b"w" | b"e" | b"o":
            return (({b"w": "wide mark", b"e": "emoji", b"o": "other"}[bare], 1),)
    return _marks(bare.decode(), apart, closing=piece[-1:] == b"\n")


def _blank(piece: bytes) -> str:
    if b"\n" in piece:
        return "break"
    return "blank" if len(piece) == 1 else "blanks"


def _word(word: str, apart: bool) -> tuple[tuple[str, int], ...]:
    length, after = len(word), " after a blank" if apart else ""
    if word[1:].isupper():
        kind = "capitals"
    elif length > RUN + 1:
        return (("run", length),)
    else:
        kind = f"Word{after}" if word[0] == "A" else f"word{after}"
    return (f"{kind} {min(length, LONGEST_WORD)}", 1), ("letter more", max(0, length - LONGEST_WORD))


def _marks(marks: str, apart: bool, closing: bool) -> tuple[tuple[str, int], ...]:
    sorts = len(re.findall(r"(.)\1*", marks))
    return (
        (f"mark {marks[0]}" if sorts == 1 else f"marks {min(sorts, LONGEST_MARKS)}", 1),
        ("mark more", max(0, sorts - LONGEST_MARKS)),
        ("mark again", len(marks) - sorts),
        ("mark after a blank", int(apart)),
        ("break after a mark", int(closing)),
    )
