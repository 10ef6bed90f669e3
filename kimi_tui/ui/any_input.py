"""Whatever comes from the terminal, the app goes on: what is no text and what nobody understands is no reason to end.

Textual stops reading at the first byte that is no UTF-8 and at the first sequence that it takes for a key with a number
which is none; both end the app.
"""

from __future__ import annotations

import re
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Iterable
from functools import partial

from textual._parser import Parser, ParseTimeout
from textual._xterm_parser import XTermParser
from textual.message import Message

_SEQUENCES = re.compile("(?=\x1b)")


class AnyInput(XTermParser):
    """Reads what is typed. A sequence that cannot be read is dropped; what comes after it counts."""

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(data)  # says that the input has ended
        for part in filter(None, _SEQUENCES.split(data)):
            try:
                yield from super().feed(part)
            except (ValueError, ArithmeticError, LookupError):
                self._go_on()

    def tick(self) -> Iterable[Message]:
        try:
            yield from super().tick()
        except (ValueError, ArithmeticError, LookupError, ParseTimeout):
            self._go_on()

    def _go_on(self) -> None:
        """As if nothing had been typed so far; what is known of the terminal stays."""
        Parser.__init__(self)


def decoder(encoding: str) -> partial[IncrementalDecoder]:
    """Like the one of `codecs`; what is not in that encoding is shown as U+FFFD."""
    return partial(getincrementaldecoder(encoding), errors="replace")
