"""ReadMediaFile: an image, for models that can see."""

from __future__ import annotations

import asyncio
import base64
import struct
from functools import cached_property
from typing import ClassVar

from pydantic import Field

from kimi_tui.protocol.messages import ImageURLPart
from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.paths import PathFault, Place, admit_reading, contents, explain, locate, regular_file
from kimi_tui.tools.text_file import binary_kind

SIZE_LIMIT = 5 << 20
"""Bytes of an image; more is refused by most providers once it is written as text."""

_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class ReadMediaFileParams(Params):
    path: str = Field(description="The image file, relative to the work folder or absolute.")


class ReadMediaFile:
    name: ClassVar[str] = "ReadMediaFile"
    Params: ClassVar[type[Params]] = ReadMediaFileParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/read_media_file")

    def describe(self, params: ReadMediaFileParams) -> tuple[str, str]:
        return "View", params.path

    async def __call__(self, params: ReadMediaFileParams, call: Call) -> ToolResult:
        try:
            place = await asyncio.to_thread(locate, params.path, call)
            refused = await admit_reading(place, call, self.name)
            return refused if refused is not None else await asyncio.to_thread(_load, place)
        except (PathFault, OSError) as fault:
            return failed(explain(fault))


def _load(place: Place) -> ToolResult:
    size = regular_file(place).st_size
    if size > SIZE_LIMIT:
        raise PathFault(
            f"{place.shown} has {size:,} bytes; at most {SIZE_LIMIT:,} can be shown. Make it smaller first."
        )
    data = contents(place.path)
    kind = media_type(data)
    if kind is None:
        raise PathFault(f"{place.shown} is {binary_kind(data[:4096]) or 'text'}, not a PNG, JPEG, GIF or WebP image.")
    width, height = dimensions(data)
    extent = f"{width}×{height}" if width else "size unknown"
    url = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return ToolResult(
        message=f"{place.shown}: {kind}, {extent}, {size:,} bytes.",
        brief=extent,
        parts=(ImageURLPart(image_url=ImageURLPart.ImageURL(url=url)),),
    )


def media_type(data: bytes) -> str | None:
    """By the first bytes, whatever the name says."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _TYPES if data.startswith(magic)), None)


def dimensions(data: bytes) -> tuple[int, int]:
    """Width and height in pixels; zeros where the file does not tell in a way known here."""
    try:
        if data.startswith(b"\x89PNG"):
            width, height = struct.unpack(">II", data[16:24])
        elif data.startswith(b"GIF8"):
            width, height = struct.unpack("<HH", data[6:10])
        elif data.startswith(b"\xff\xd8"):
            return _jpeg_dimensions(data)
        else:
            return 0, 0
    except struct.error:
        return 0, 0
    return width, height


def _jpeg_dimensions(data: bytes) -> tuple[int, int]:
    """From the first start-of-frame segment."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return 0, 0
