"""Compressed rotations: `context_3.jsonl.zst` (or `.gz`) beside an empty `context_3.jsonl` that keeps the number."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import BinaryIO

from kimi_tui.context.paths import PACKED_SUFFIXES

try:
    import zstandard
except ImportError:  # the `zstd` extra is not installed
    _HAS_ZSTD = False
else:
    _HAS_ZSTD = True

BUFFER = 256 << 10
"""Bytes that are read at a time: few calls, and what was read is still near the processor when it is looked at."""

SUFFIX = ".zst" if _HAS_ZSTD else ".gz"


def packed_path(path: Path) -> Path | None:
    """The compressed form of a rotation, when that is what there is."""
    for packed in packed_forms(path):
        if packed.exists() and not (path.exists() and path.stat().st_size):
            return packed
    return None


def packed_forms(path: Path) -> list[Path]:
    """Where a compressed form of a rotation would be."""
    return [path.with_name(path.name + suffix) for suffix in PACKED_SUFFIXES]


def open_rotation(path: Path) -> BinaryIO:
    """The plain bytes of a rotation, compressed or not. Raises `OSError`."""
    packed = packed_path(path)
    if packed is None:
        return path.open("rb", buffering=BUFFER)
    return io.BytesIO(unpack(packed))


def unpack(packed: Path) -> bytes:
    """Raises `OSError`, also for a damaged file."""
    if packed.suffix == ".gz":
        try:
            with gzip.open(packed, "rb") as file:
                return file.read()
        except EOFError as error:
            raise OSError(f"{packed} is cut off") from error
    if not _HAS_ZSTD:
        raise OSError(f"{packed.name} is compressed with zstandard, which is not installed")
    try:
        with packed.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            return stream.read()
    except zstandard.ZstdError as error:
        raise OSError(f"{packed} is damaged: {error}") from error


def pack(data: bytes) -> bytes:
    """In the form that `SUFFIX` names."""
    if not _HAS_ZSTD:
        return gzip.compress(data, 6)
    return zstandard.ZstdCompressor(level=9, write_checksum=True).compress(data)


_WHOLE, _SAMPLE, _SAMPLES = 1 << 20, 256 << 10, 4
"""Bytes. Of a longer file only some passages are looked at."""


def packed_size(path: Path) -> int:
    """About how many bytes a file would have in that form. Raises `OSError`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _WHOLE:
            return len(pack(file.read()))
        stride = (size - _SAMPLE) // (_SAMPLES - 1)
        found = 0
        for number in range(_SAMPLES):
            file.seek(number * stride)
            found += len(pack(file.read(_SAMPLE)))
    return found * size // (_SAMPLE * _SAMPLES)
