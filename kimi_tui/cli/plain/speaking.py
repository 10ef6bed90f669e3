"""Cuts streamed text where it can be read out: at line ends, and in long lines at the ends of sentences."""

from __future__ import annotations

import re

LONG = 160
"""Characters of an unfinished line from which on its whole sentences are said."""
_SENTENCE = re.compile(r"[.!?…:;][)\]\"'”’*_`]*\s+|[。！？；：]")
_FENCE = re.compile(r"\s*(```|~~~)")


class Speaker:
    """Takes pieces of text, gives whole lines. Code and tables are only cut at their own line ends."""

    def __init__(self) -> None:
        self._rest = ""
        self._fenced = False

    def feed(self, text: str) -> list[str]:
        """The lines that are complete now."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._fenced ^= _FENCE.match(line) is not None
        if len(self._rest) > LONG and not self._fenced and not self._rest.lstrip().startswith(("|", "```", "~~~")):
            whole += self._sentences()
        return [line.rstrip() for line in whole]

    def flush(self) -> list[str]:
        """What is left, now that nothing follows."""
        rest, self._rest, self._fenced = self._rest, "", False
        return [rest.rstrip()] if rest.strip() else []

    def _sentences(self) -> list[str]:
        ends = [match.end() for match in _SENTENCE.finditer(self._rest)]
        if not ends:
            return []
        said, self._rest = self._rest[: ends[-1]], self._rest[ends[-1] :]
        return [said]
