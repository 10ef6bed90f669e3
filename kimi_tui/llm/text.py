"""Text that every API takes: whole Unicode, no NUL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

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
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text)) // 2
    return (len(text) - wide + 3) // 4 + (wide * 2 + 2) // 3


def rough_tokens_of(values: Iterable[Any]) -> int:
    """The same for the JSON of each of these. One by one: a worker that does it lets the others have their turns."""
    return sum(rough_tokens(json.dumps(value, ensure_ascii=False)) for value in values)
