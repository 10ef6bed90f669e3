"""What a terminal answers when it is asked for its name or for pictures. None of it reaches the prompt.

Answers come among the keys, whole or in parts; nobody waits for them.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual.message import Message

from kimi_tui.ui.any_input import decoder
from kimi_tui.ui.quick_paste import QuickPaste

PATIENCE = 5.0
"""Seconds after a question in which an Esc may be the beginning of an answer."""
DELAY = 0.1
"""Seconds after which it was the key."""
SURE = 3
"""Characters from which on it can hardly be keys any more, and is dropped when the rest does not come."""
SLOW = 2.0
"""Seconds that the rest of an answer may take."""
LONGEST = 512
"""Characters; what goes on longer is no answer."""

_WHOLE = re.compile(r"\x1b(?:_G(?P<graphics>[^\x1b]*)|P>\|(?P<name>[^\x1b]*))\x1b\\")
_PART = re.compile(r"\x1b(?:_(?:G[^\x1b]*\x1b?)?|P(?:>(?:\|[^\x1b]*\x1b?)?)?)?\Z")


@dataclass
class Answered(Message):
    """`what`: `graphics` or `name`."""

    what: str
    text: str


class Answers(QuickPaste):
    """Reads the terminal's input and takes the answers out of it."""

    expected_until: ClassVar[float] = 0.0
    """Until then (`time.monotonic`) answers are looked for."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._begun = ""
        """What may be the beginning of an answer, and since when."""
        self._since = 0.0

    @classmethod
    def expect(cls) -> None:
        """A question has been asked."""
        cls.expected_until = time.monotonic() + PATIENCE

    def feed(self, data: str) -> Iterable[Message]:
        if not data or self.pasting or not (self._begun or time.monotonic() < self.expected_until):
            yield from super().feed(data)
            return
        data, self._begun = self._begun + data, ""
        at = 0
        for found in _WHOLE.finditer(data):
            if found.start() > at:
                yield from super().feed(data[at : found.start()])
            yield Answered(str(found.lastgroup), str(found[str(found.lastgroup)]))
            at = found.end()
        rest = data[at:]
        part = _PART.search(rest)
        if part is not None and len(part[0]) <= LONGEST:
            self._begun, self._since = part[0], time.monotonic()
            rest = rest[: part.start()]
        if rest:
            yield from super().feed(rest)

    def tick(self) -> Iterable[Message]:
        broken_off = len(self._begun) >= SURE
        if self._begun and time.monotonic() - self._since > (SLOW if broken_off else DELAY):
            begun, self._begun = self._begun, ""
            yield from super().feed(begun) if not broken_off else ()
        yield from super().tick()


def teach() -> None:
    """Let Textual's driver read with it, where there is a terminal as we know it."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        vars(linux_driver).update(XTermParser=Answers, getincrementaldecoder=decoder)
