"""Text of others, printed as text: no escape codes, no control characters, no lone surrogates."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
"""They turn the direction of what follows, and so could show something else than is there."""


def literal(text: str) -> str:
    """The text with every control character but line feeds and tabs made visible."""
    text = text.replace("\r\n", "\n")
    return text if text.isprintable() else "".join(map(_visible, text))


def one_line(text: str) -> str:
    """The same on one line, for tables and messages."""
    return " ".join(literal(text).split())


def shortened(text: str, width: int) -> str:
    """At most `width` columns of one line; wide characters count double."""
    text = one_line(text)
    if columns(text) <= width:
        return text
    while text and columns(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def padded(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))


def columns(text: str) -> int:
    """Columns that a terminal gives to the text."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def _visible(letter: str) -> str:
    if letter in _KEPT or letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if letter in _TURNING or unicodedata.category(letter) in ("Cc", "Cs", "Co", "Cn"):
        return "\ufffd"
    return letter
