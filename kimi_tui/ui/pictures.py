"""Pictures in the chat: as they are where the terminal can show them (`gallery`), else drawn with half blocks.

With half blocks every cell shows two pixels, in any terminal that has the colours. Pictures are read beside the screen
and kept small. Where they cannot be shown (no Pillow, no colours, nothing that can be read) their captions say what
they are.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from kimi_tui.ui.gallery import Gallery, Hung
from kimi_tui.ui.rows import Piece, Row, wrap
from kimi_tui.ui.text import one_line

if TYPE_CHECKING:
    from PIL.Image import Image

WIDEST, HIGHEST = 100, 40
"""Cells and rows of a picture that is unfolded."""
LOW = 10
"""Rows of one that is folded."""
LONGEST = 40_000_000
"""Characters of a data URL."""
MOST_PIXELS = 50_000_000
"""What would be larger once it is unpacked is not read."""
KEPT = 64
"""Blocks whose pictures are kept."""
ORIENTATION = 0x0112
"""The EXIF tag; above 4 the picture lies on its side."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")

Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One that has been read, scaled down to what can be shown of it."""

    image: Image
    width: int
    height: int
    png: bytes = b""
    """With more of its pixels, for a terminal that can show them."""
    hung: Hung | None = None
    """Where it has been sent to the terminal."""

    @property
    def extent(self) -> str:
        """Its own size in pixels."""
        return f"{self.width}×{self.height}"


def can_show() -> bool:
    """Whether there is what it takes to read pictures, and colours are wanted."""
    return find_spec("PIL") is not None and not os.environ.get("NO_COLOR")


def read(url: str, ground: Color = (0, 0, 0), sharp: tuple[int, int] | None = None) -> Picture | None:
    """Takes its time, up to some tenths of a second. What is clear in the picture gets the colour of the ground.
    `sharp`: make a PNG of at most so many pixels, too. None for what is no picture, or too large a one."""
    head, _, content = url.partition(",")
    if not head.startswith("data:image/") or ";base64" not in head or len(url) > LONGEST:
        return None
    from PIL import Image, ImageOps

    try:
        with Image.open(BytesIO(base64.b64decode(content)), formats=FORMATS) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                return None
            if image.getexif().get(ORIENTATION, 1) > 4:
                width, height = height, width
            image.draft("RGB", sharp or (2 * WIDEST, 4 * HIGHEST))
            small = ImageOps.exif_transpose(image).convert("RGBA")
            png = _png(small, sharp) if sharp else b""
            small.thumbnail((WIDEST, 2 * HIGHEST), Image.Resampling.BOX)
            flat = Image.new("RGBA", small.size, (*ground, 255))
            flat.alpha_composite(small)
            return Picture(flat.convert("RGB"), width, height, png)
    except (OSError, ValueError, SyntaxError, binascii.Error, MemoryError, Image.DecompressionBombError):
        return None


def _png(image: Image, most: tuple[int, int]) -> bytes:
    """Shrinks the image itself."""
    image.thumbnail(most)
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def image_rows(
    caption: str, picture: Picture | None, column: int, unfolded: bool, lead: tuple[Piece, ...]
) -> list[Row]:
    """What it is called, how large it is and, where that can be seen, how it looks."""
    extent = f" {picture.extent}" if picture and picture.extent not in caption else ""
    rows = wrap([Piece(f"[{one_line(caption)}{extent}]", "quiet")], column, lead)
    room = column - sum(len(piece.text) for piece in lead)
    return rows + (picture_rows(picture, room, unfolded, lead) if picture and room > 0 else [])


def picture_rows(picture: Picture, width: int, unfolded: bool, lead: tuple[Piece, ...] = ()) -> list[Row]:
    """The picture in at most `width` cells. Nothing of it is copied with the text around it."""
    highest = HIGHEST if unfolded else LOW
    if picture.hung is not None:
        return picture.hung.rows((picture.width, picture.height), (min(width, WIDEST), highest), lead)
    image = picture.image
    scale = min(1.0, width / image.width, 2 * highest / image.height)
    size = (max(1, round(image.width * scale)), max(2, round(image.height * scale)))
    pixels: Any = (image if size == image.size else image.resize(size, reducing_gap=2.0)).load()
    columns = range(size[0])
    rows = []
    for y in range(0, size[1], 2):
        both = range(y, min(y + 2, size[1]))
        looks = [_look(*(pixels[x, each] for each in both)) for x in columns]
        pieces = (*lead, *_joined(looks))
        rows.append(Row(pieces, sum(len(piece.text) for piece in pieces), ""))
    return rows


def _look(*colors: Color) -> str:
    return "".join(f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in colors)


def _joined(looks: Sequence[str]) -> list[Piece]:
    """Neighbours of one look as one piece."""
    pieces: list[Piece] = []
    for look in looks:
        if pieces and pieces[-1].style == look:
            pieces[-1] = pieces[-1]._replace(text=pieces[-1].text + "▀")
        else:
            pieces.append(Piece("▀", look))
    return pieces


class Pictures:
    """What has been read for the blocks of a chat, the newest ones. Blocks are known by identity."""

    def __init__(self, enabled: bool = False) -> None:
        self.enabled = enabled
        self.gallery: Gallery | None = None
        """The terminal, when it can show pictures by itself."""
        self._read: OrderedDict[object, tuple[Picture | None, ...]] = OrderedDict()
        self._asked: set[int] = set()
        self._one = asyncio.Lock()

    def of(self, block: object) -> tuple[Picture | None, ...]:
        """Empty while nothing is known."""
        return self._read.get(block, ())

    def wants(self, block: object, index: int) -> bool:
        """Whether the images of the entry with that index should be asked for; said once."""
        if not self.enabled or block in self._read or index in self._asked:
            return False
        self._asked.add(index)
        return True

    async def take(self, block: object, index: int, urls: Sequence[str], ground: Color) -> None:
        """Read what has been asked for, one block after another."""
        async with self._one:
            self._read[block] = tuple([await self._hang(url, ground) for url in urls])
        self._asked.discard(index)
        if len(self._read) > KEPT:
            self._take_down(self._read.popitem(last=False)[1])

    async def _hang(self, url: str, ground: Color) -> Picture | None:
        gallery = self.gallery
        picture = await asyncio.to_thread(read, url, ground, gallery.most if gallery else None)
        if gallery is None or picture is None:
            return picture
        return replace(picture, png=b"", hung=await gallery.hang(picture.png))

    def show_in(self, gallery: Gallery | None) -> None:
        """From now on; what has been shown so far is shown anew."""
        self.forget()
        self.gallery = gallery

    def forget(self) -> None:
        for pictures in self._read.values():
            self._take_down(pictures)
        self._read.clear()
        self._asked.clear()

    def _take_down(self, pictures: Sequence[Picture | None]) -> None:
        for picture in pictures:
            if picture is not None and picture.hung is not None:
                picture.hung.take_down()
