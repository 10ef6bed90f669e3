"""Bytes in a text that its encoding does not know: Python keeps each as half a letter, a reader sees `\\xe9`."""

from __future__ import annotations

import re

_STRAY = re.compile("[\udc80-\udcff]")
_DECODED = re.compile("[\x80-\ud7ff\ue000-\U0010ffff]")
_SPELLED = re.compile(r"\\x([89a-fA-F][0-9a-fA-F])")


def has_stray_bytes(text: str) -> bool:
    """Whether there are any."""
    return _STRAY.search(text) is not None


def with_stray_bytes(text: str) -> str:
    """The text with the byte itself for each `\\xe9`."""
    return _SPELLED.sub(lambda match: chr(0xDC00 + int(match[1], 16)), text)


def mixes_encodings(before: str, after: str) -> bool:
    """Whether a text in another encoding, which nobody knows, would get its first characters in UTF-8."""
    return has_stray_bytes(after) and _DECODED.search(after) is not None and _DECODED.search(before) is None
