"""How many tokens an image is: providers count its size, which stands in its first bytes."""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterator

_LOOKED_AT = 1 << 16
"""Characters of an image written in base64 among which its size is looked for."""

Size = tuple[int, int]
"""Width and height, in pixels."""


def size_of(url: str) -> Size | None:
    """Of a PNG, GIF, JPEG or WebP image that is written into the URL itself; None of any other."""
    head, comma, written = url.partition(",")
    if not comma or not head.endswith(";base64"):
        return None
    try:
        data = base64.b64decode(written[:_LOOKED_AT])
        found = _size(data)
    except (binascii.Error, ValueError, struct.error):
        return None
    return found if found and min(found) > 0 else None


def _size(data: bytes) -> Size | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _pair(">II", data, 16)
    if data.startswith(b"GIF8"):
        return _pair("<HH", data, 6)
    if data.startswith(b"\xff\xd8"):
        return next(_jpeg_sizes(data), None)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp_size(data)
    return None


def _pair(layout: str, data: bytes, place: int) -> Size:
    first, second = struct.unpack_from(layout, data, place)
    return first, second


def _jpeg_sizes(data: bytes) -> Iterator[Size]:
    """Walks the segments up to the frame's."""
    place = 2
    while True:
        mark, kind, length = struct.unpack_from(">BBH", data, place)
        if mark != 0xFF:
            return
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = _pair(">HH", data, place + 5)
            yield width, height
        place += 2 + length


def _webp_size(data: bytes) -> Size | None:
    match data[12:16]:
        case b"VP8X":
            edges = struct.unpack_from("3s3s", data, 24)
            return int.from_bytes(edges[0], "little") + 1, int.from_bytes(edges[1], "little") + 1
        case b"VP8L":
            [bits] = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = _pair("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None


def tiled(size: Size) -> int:
    """Tokens, as OpenAI counts: 170 for each tile of 512 pixels and 85 more, once the image was made to fit."""
    width, height = _shrunk(size, min(2048 / max(size), 768 / min(size)))
    return 85 + 170 * math.ceil(width / 512) * math.ceil(height / 512)


_LONGEST_EDGE, _MOST_PATCHES = 1568, 1568


def patched(size: Size) -> int:
    """Tokens, as Anthropic and many others count: one for each patch of 28 pixels, up to a size beyond which an image
    is made smaller."""
    width, height = _shrunk(size, _LONGEST_EDGE / max(size))
    return min(_MOST_PATCHES, math.ceil(width / 28) * math.ceil(height / 28))


def _shrunk(size: Size, scale: float) -> Size:
    """Never larger than it was."""
    width, height = (max(1, round(edge * min(1.0, scale))) for edge in size)
    return width, height
