"""What a program says on its standard output, in whole lines.

Takes the place of the SDK's own reading, which copies all that has arrived of a line with every piece of it: a result
of some megabytes would hold up all servers for as long as that takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

LONGEST = 64 * 1024 * 1024
"""Bytes of a message; a longer one is not kept."""

_NUMBER = re.compile(rb'"id"\s*:\s*(\d+|"[^"\\]{0,100}")')
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?P<half>u[dD][89a-fA-F][\da-fA-F]{2})|.)", re.DOTALL
)
"""An escape of JSON: a letter in two halves, half a letter, or any other."""


class WholeLines:
    """An iterator over text that ends with a line's end, made of one over bytes."""

    def __init__(self, inner: AsyncIterator[bytes], encoding: str, errors: str) -> None:
        self._inner, self._encoding, self._errors = inner, encoding, errors
        self._pieces: list[bytes] = []
        self._size = 0

    def __aiter__(self) -> WholeLines:
        return self

    async def __anext__(self) -> str:
        """Raises StopAsyncIteration at the end; a line that has no end then was never said."""
        while True:
            piece = await self._inner.__anext__()
            end = piece.rfind(b"\n") + 1
            whole = self._taken(piece[:end]) if end else b""
            self._keep(piece[end:])
            if whole:
                return mended(whole.decode(self._encoding, self._errors))

    def _taken(self, end: bytes) -> bytes:
        """All that is kept, and these last bytes of it."""
        first, _, more = end.partition(b"\n")
        self._keep(first)
        line, too_long = b"".join(self._pieces), self._size > LONGEST
        self._pieces, self._size = [], 0
        return (refusal(line) if too_long else line) + b"\n" + more

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= LONGEST or not self._pieces:
            self._pieces.append(piece)


def refusal(line: bytes) -> bytes:
    """The answer that stands for one that is too long, as far as it can be told to which call it belongs."""
    number = _NUMBER.search(line[:1000]) or _NUMBER.search(line[-1000:])
    if number is None:
        return b""
    error = {"code": -32000, "message": f"the answer is longer than {LONGEST // 1024 // 1024} MB"}
    return b'{"jsonrpc": "2.0", "id": %b, "error": %b}' % (number[1], json.dumps(error).encode())


def mended(text: str) -> str:
    """Lines of JSON without halves of letters and raw control codes: the SDK would drop the whole message for one, and
    the call would wait for its time-out."""
    if _CONTROL.search(text):
        text = _CONTROL.sub(lambda code: " " if code[0] in "\t\r" else f"\\u{ord(code[0]):04x}", text)
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(lambda escape: "\\ufffd" if escape["half"] else escape[0], text)
    return text
