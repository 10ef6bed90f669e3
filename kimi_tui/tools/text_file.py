"""The bytes of a file as text and back, so that what is not touched stays byte for byte as it was."""

from __future__ import annotations

import codecs
import unicodedata
from dataclasses import dataclass

from kimi_tui.tools.paths import PathFault, Place, contents, regular_file

EDIT_LIMIT = 16 << 20
"""Bytes of a file that is edited, or decoded as a whole, at most."""
SNIFF = 1 << 16

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document or package made of one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ\x90\0", "a Windows program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "WebAssembly"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
)


@dataclass(frozen=True, slots=True)
class Coding:
    """How text is written as bytes."""

    codec: str = "utf-8"
    bom: bytes = b""

    @property
    def wide(self) -> bool:
        return self.codec != "utf-8"

    def decode(self, data: bytes) -> str:
        """Bytes that are not valid UTF-8 are kept as lone surrogates. Raises UnicodeDecodeError for the wide ones."""
        body = data[len(self.bom) :]
        return body.decode(self.codec, "strict" if self.wide else "surrogateescape")

    def encode(self, text: str) -> bytes:
        return self.bom + text.encode(self.codec, "strict" if self.wide else "surrogateescape")

    def __str__(self) -> str:
        mark = " with BOM" if self.bom else " without BOM" if self.wide else ""
        return self.codec.upper() + mark


def coding_of(head: bytes) -> Coding:
    """By the byte order mark; without one it is UTF-16 if it clearly looks like that, and else UTF-8."""
    marked = next((Coding(codec, bom) for bom, codec in _BOMS if head.startswith(bom)), None)
    return marked or _unmarked(head)


def _unmarked(head: bytes) -> Coding:
    """Text in UTF-16 that is partly Latin has a NUL in many of its pairs of bytes, and always on the same side."""
    low, high = head[0::2].count(0), head[1::2].count(0)
    if max(low, high) * 3 < len(head) // 2 or min(low, high) * 8 > max(low, high) or not head:
        return Coding()
    coding = Coding("utf-16-le" if high > low else "utf-16-be")
    try:
        text = codecs.getincrementaldecoder(coding.codec)().decode(head, final=len(head) < SNIFF)
    except UnicodeDecodeError:
        return Coding()
    return coding if all(char in "\t\n\r\f" or _written(char) for char in text) else Coding()


def _written(char: str) -> bool:
    """Not a control code, and no character that is not assigned or private."""
    return unicodedata.category(char) not in ("Cc", "Cn", "Co", "Cs")


def binary_kind(head: bytes) -> str:
    """What kind of binary data the file's beginning shows; empty for text."""
    known = next((name for magic, name in _MAGIC if head.startswith(magic)), "")
    if known:
        return known
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return {b"WEBP": "a WebP image", b"WAVE": "WAVE audio", b"AVI ": "AVI video"}[head[8:12]]
    if head[4:8] == b"ftyp":
        return "MP4 or HEIF media"
    return "binary data (it holds NUL bytes)" if b"\0" in head and not coding_of(head).wide else ""


def refuse_binary(place: Place, head: bytes, size: int) -> None:
    """Raises PathFault that names what the file is."""
    what = binary_kind(head)
    if what:
        hint = " ReadMediaFile shows images." if "image" in what else ""
        raise PathFault(f"{place.shown} is {what}, {size:,} bytes; it is not shown as text.{hint}")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as it was read."""

    data: bytes
    text: str
    coding: Coding


def read_text(place: Place) -> TextFile:
    """The whole file, to be edited. Raises PathFault when it is no text, too big, or would not survive the way back."""
    size = regular_file(place).st_size
    if size > EDIT_LIMIT:
        raise PathFault(f"{place.shown} has {size:,} bytes, too many to edit here; use a command.")
    data = contents(place.path)
    coding = coding_of(data)
    refuse_binary(place, data[:SNIFF], size)
    try:
        text = coding.decode(data)
    except UnicodeDecodeError as fault:
        raise PathFault(f"{place.shown} begins like {coding} but is not valid: {fault.reason}.") from None
    if coding.encode(text) != data:
        raise PathFault(f"{place.shown} cannot be edited without changing bytes elsewhere in it.")
    return TextFile(data, text, coding)


def line_ending(text: str) -> str:
    """The prevailing one: `\\r\\n` or `\\n`."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"
