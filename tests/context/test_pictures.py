"""An image counts by its size, read from its first bytes."""

from __future__ import annotations

import base64
import struct

import pytest

from kimi_tui.context import Calibration, ImageURLPart, Message, estimate_text_tokens
from kimi_tui.context.pictures import Size, patched, size_of, tiled

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8" + b"\xff\xe0" + struct.pack(">H", 6) + b"JFIF" + b"\xff\xc4" + struct.pack(">H", 4) + b"\0\0"
FRAME = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, 480, 640) + b"\3"


def riff(kind: bytes, body: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(body)) + body


HEADS = {
    "png": PNG + struct.pack(">I4sII", 13, b"IHDR", 640, 480),
    "gif": b"GIF89a" + struct.pack("<HH", 640, 480),
    "jpeg": JPEG + FRAME,
    "extended webp": riff(b"VP8X", b"\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")),
    "lossless webp": riff(b"VP8L", b"\x2f" + (639 | 479 << 14).to_bytes(4, "little")),
    "lossy webp": riff(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480)),
}


def url(data: bytes) -> str:
    return "data:image/any;base64," + base64.b64encode(data).decode()


def image(address: str) -> Message:
    return Message(role="user", content=[ImageURLPart(image_url=ImageURLPart.ImageURL(url=address))])


@pytest.mark.parametrize("kind", HEADS)
def test_the_size_stands_in_the_first_bytes(kind: str) -> None:
    assert size_of(url(HEADS[kind] + b"\0" * 100_000)) == (640, 480)


@pytest.mark.parametrize("kind", HEADS)
def test_an_image_that_is_cut_anywhere_is_no_harm(kind: str) -> None:
    head = HEADS[kind]
    assert all(size_of(url(head[:length])) in (None, (640, 480)) for length in range(len(head)))
    assert size_of(url(HEADS[kind][:8])) is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://example.org/a.png",
        "data:image/png,abc",
        "data:image/png;base64,",
        "data:image/png;base64,é!",
        url(PNG + struct.pack(">I4sII", 13, b"IHDR", 0, 480)),
        url(b"\xff\xd8" + b"\0" * 50),
        url(b"RIFF\0\0\0\0WEBPXXXX"),
    ],
)
def test_an_image_of_unknown_size_counts_as_a_usual_one(address: str) -> None:
    assert size_of(address) is None
    assert estimate_text_tokens([image(address)]) == 1000


@pytest.mark.parametrize(
    ("size", "tiles", "patches"),
    [
        ((64, 64), 255, 9),
        ((640, 480), 425, 414),
        ((1024, 1024), 765, 1369),
        ((1920, 1080), 1105, 1568),
        ((4000, 3000), 765, 1568),
        ((300, 3000), 765, 336),
        ((1, 100_000), 765, 56),
    ],
)
def test_providers_count_the_same_image_differently(size: Size, tiles: int, patches: int) -> None:
    assert (tiled(size), patched(size)) == (tiles, patches)


def test_an_image_counts_as_the_models_family_counts_it() -> None:
    message = image(url(PNG + struct.pack(">I4sII", 13, b"IHDR", 1024, 1024)))
    assert estimate_text_tokens([message], Calibration.for_model("openai/gpt-4o")) == pytest.approx(765, rel=0.01)
    assert estimate_text_tokens([message], Calibration.for_model("claude-sonnet-4-5")) == pytest.approx(1369, rel=0.01)
