"""Amounts of bytes as people write them."""

from __future__ import annotations


def bytes_in(text: str) -> int:
    """`200MB`, `200M`, `1.5 GB`, `4096`; a thousand to the step. Raises `ValueError`."""
    number = text.strip().upper().removesuffix("B").rstrip()
    power = "KMG".find(number[-1:]) + 1 if number[-1:] else 0
    try:
        amount = float(number[:-1] if power else number)
        count = int(amount * 1000**power)
    except (ValueError, OverflowError):
        count = -1
    if count < 0:
        raise ValueError(f"{text!r} is no size: 200M, 1G, 4096")
    return count


def size_of(count: int) -> str:
    """`212.4 MB`, `3.1 kB`."""
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"
