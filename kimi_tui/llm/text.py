"""Text that every API takes: whole Unicode, no NUL."""

from __future__ import annotations

NUL_MARK = "\u2400"
"""Drawn for U+0000, at which some servers cut a body."""


def sendable(text: str) -> str:
    """Halves of a surrogate pair are joined, lone ones become U+FFFD, NUL becomes a visible mark."""
    if "\0" in text:
        text = text.replace("\0", NUL_MARK)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def rough_tokens(text: str) -> int:
    """Tokens of a text where nobody counted them: four Latin characters a token, wide scripts nearly one each."""
    if text.isascii():
        return (len(text) + 3) // 4
    wide = sum(character > "\u2e7f" for character in text)
    return (len(text) - wide + 3) // 4 + (wide * 2 + 2) // 3
