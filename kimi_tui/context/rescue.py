"""Records that can still be read out of damaged lines: glued together by a crash, or split by a raw line end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from kimi_tui.context.records import Bad, Blank, MessageLine, parse, without_surrogates

_START = re.compile(rb'\{\s*"role"\s*:')
_LONGEST_SPLIT = 200
"""Lines that one record may have been split over."""


def is_sound(line: bytes) -> bool:
    return not isinstance(parse(line), Bad | Blank)


def fused_records(line: bytes) -> list[bytes]:
    """The whole records on a line that holds more than one, or the rest of a torn one before the next."""
    found: list[bytes] = []
    position = 0
    while match := _START.search(line, position):
        record = _leading_object(line[match.start() :])
        sound = record is not None and is_sound(record)
        position = match.start() + (len(record) if record is not None and sound else 1)
        if record is not None and sound:
            found.append(record + b"\n")
    return found


def _leading_object(data: bytes) -> bytes | None:
    """The bytes of the JSON object that the data starts with."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        _, stop = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return text[:stop].encode("utf-8", "surrogateescape")


def split_record(lines: Sequence[bytes]) -> tuple[bytes, int] | None:
    """The record that the first few of these lines are together, and how many they are."""
    for count in range(2, min(len(lines), _LONGEST_SPLIT) + 1):
        whole = b"".join(lines[:count]).rstrip(b"\r\n")
        if whole.endswith(b"}") and isinstance(parse(whole), MessageLine):
            value = without_surrogates(json.loads(whole.decode("utf-8", "replace"), strict=False))
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n", count
    return None
