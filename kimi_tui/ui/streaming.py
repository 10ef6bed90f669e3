"""Markdown that is still being written: only its open end is parsed again.

Blocks that can no longer change are kept as rows. A long code fence or list counts as one block for the parser, so
its finished lines and items are committed too; the block is drawn once more as a whole when it is complete.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kimi_tui.ui.markdown import block_rows, parser
from kimi_tui.ui.rows import BLANK, Row
from kimi_tui.ui.text import clean

if TYPE_CHECKING:
    from markdown_it.token import Token

LONG = 40
"""Lines of one open block after which its finished part is committed."""

_UNFINISHED = re.compile(r"(?:\r|\x1b[^\n]{0,64})\Z")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})[^\n]*\n")


class OpenMarkdown:
    """The rows of a growing source."""

    def __init__(self, width: int, indent: int = 0) -> None:
        self.width = width
        self.indent = indent
        self._seen = 0
        self._held = ""
        self._tail = ""
        self._rows: list[Row] = []
        self._parted = False
        """Whether a blank row stands between the committed rows and the tail."""

    def rows(self, source: str) -> list[Row]:
        """All rows, now that the source has grown to this."""
        self._feed(source[self._seen :])
        self._seen = len(source)
        tokens = parser().parse(self._tail)
        line, inside = _settled(tokens, self._tail)
        if line:
            self._commit(line, inside)
            tokens = parser().parse(self._tail)
        tail = block_rows(tokens, self.width, self.indent)
        between = [BLANK] if self._rows and tail and self._parted else []
        return [*self._rows, *between, *tail]

    def _feed(self, text: str) -> None:
        text = self._held + text
        unfinished = _UNFINISHED.search(text)
        self._held = unfinished[0] if unfinished else ""
        self._tail += clean(text[: len(text) - len(self._held)])

    def _commit(self, line: int, inside: bool) -> None:
        """Keep the rows of the first lines of the tail and forget their source. `inside` an open fence the rest of
        the tail gets the opening line again."""
        lines = self._tail.split("\n")
        head, self._tail = "\n".join(lines[:line]), "\n".join(lines[line:])
        drawn = block_rows(parser().parse(head), self.width, self.indent)
        if self._rows and drawn and self._parted:
            self._rows.append(BLANK)
        self._rows += drawn
        fence = _FENCE.match(head + "\n") if inside else None
        self._parted = fence is None
        if fence:
            self._tail = fence[0] + self._tail


def _settled(tokens: Sequence[Token], source: str) -> tuple[int, bool]:
    """How many lines of the source can be committed, and whether they end inside an open fence."""
    tops = [token for token in tokens if token.level == 0 and token.map]
    if not tops:
        return 0, False
    last = tops[-1]
    start, _ = last.map or (0, 0)
    lines = source.count("\n")
    if start > 0 and last.type == "fence":
        return start, False
    if len(tops) > 2:  # the last but one may still join: `1` becomes `1.` and goes on with the list above it
        return (tops[-2].map or (0, 0))[0], False
    if start > 0 or lines < LONG:
        return 0, False
    if last.type == "fence":
        return (0, False) if _closed(source) else (lines, True)
    if last.type in ("bullet_list_open", "ordered_list_open"):
        items = [token.map[0] for token in tokens if token.type == "list_item_open" and token.level == 1 and token.map]
        return items[-1], False
    return 0, False


def _closed(fence: str) -> bool:
    """Whether the fence that opens this text is closed at its end."""
    opening = re.match(r" {0,3}(`{3,}|~{3,})", fence)
    last = fence.rstrip("\n").rpartition("\n")[2].strip()
    return bool(
        opening and "\n" in fence.rstrip("\n") and last.startswith(opening[1]) and not last.strip(opening[1][0])
    )
