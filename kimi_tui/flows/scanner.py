"""A cursor over the text of a diagram that always knows its line."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NoReturn

from kimi_tui.flows.graph import FlowParseError

_BLANKS = re.compile(r"[^\S\n]+")
_EXCERPT = 40


class Scanner:
    """Reads forward only. Line ends are `\\n` inside, whatever the file had; a BOM is gone."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        self.text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self.pos = 0
        self._first_line = first_line
        self._line_ends = [match.start() for match in re.finditer("\n", self.text)]

    @property
    def at_end(self) -> bool:
        return self.pos >= len(self.text)

    @property
    def at_line_end(self) -> bool:
        return self.at_end or self.text[self.pos] == "\n"

    @property
    def line(self) -> int:
        return self.line_of(self.pos)

    def line_of(self, pos: int) -> int:
        return self._first_line + bisect_left(self._line_ends, pos)

    @property
    def line_end(self) -> int:
        """Where the present line ends."""
        index = bisect_left(self._line_ends, self.pos)
        return self._line_ends[index] if index < len(self._line_ends) else len(self.text)

    @property
    def char(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.pos : self.pos + 1]

    def sees(self, token: str | tuple[str, ...]) -> bool:
        return self.text.startswith(token, self.pos)

    def accept(self, token: str) -> bool:
        if not self.sees(token):
            return False
        self.pos += len(token)
        return True

    def peek(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.text, self.pos)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.pos)
        if match:
            self.pos = match.end()
        return match

    def take_to(self, end: int) -> str:
        taken = self.text[self.pos : end]
        self.pos = max(self.pos, end)
        return taken

    def skip_blanks(self) -> None:
        self.take(_BLANKS)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises FlowParseError for the place `at`, or for the cursor."""
        raise FlowParseError(message, self.line_of(self.pos if at is None else at))

    def here(self) -> str:
        """What stands at the cursor, for a message."""
        rest = self.text[self.pos : self.line_end].strip()
        return f"`{rest[:_EXCERPT]}{'…' if len(rest) > _EXCERPT else ''}`" if rest else "the end of the line"
