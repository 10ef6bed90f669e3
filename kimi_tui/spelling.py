"""Paths in characters that survive anywhere, and back."""

from __future__ import annotations

import os
import re
from pathlib import Path

_UNSPELLABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control codes, line ends, what turns the direction of writing, and bytes that do not decode."""
_SPELLED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([ntr]))")
_LETTERS = {"\n": "n", "\t": "t", "\r": "r"}
_MEANT = {letter: char.encode() for char, letter in _LETTERS.items()}


def spell(path: str | Path) -> str:
    r"""The path with bytes that do not decode as `\xff`, a line break as `\n`, and so on."""
    return _UNSPELLABLE.sub(_spelled, str(path))


def unspelled(text: str) -> str:
    r"""`bad\xffname` as the path it stands for."""
    pieces, end = [], 0
    for match in _SPELLED.finditer(text):
        pieces += [os.fsencode(text[end : match.start()]), bytes.fromhex(match[1]) if match[1] else _MEANT[match[2]]]
        end = match.end()
    return os.fsdecode(b"".join([*pieces, os.fsencode(text[end:])]))


def _spelled(match: re.Match[str]) -> str:
    char = match[0]
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}"
    stray = 0xDC80 <= ord(char) <= 0xDCFF
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape" if stray else "replace"))
