"""Markdown that is still being written: only its open end is parsed again.

Blocks that can no longer change are kept as rows. A long code fence, list or table counts as one block for the parser,
so its finished lines are committed too; when it is complete it is drawn once more as a whole, unless that would take
too long: colours know nothing of what was before the line they begin with, and columns keep the widths that they had.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kimi_tui.ui.markdown import block_rows, columns, markdown_rows, parser
from kimi_tui.ui.rows import BLANK, Piece, Row
from kimi_tui.ui.text import clean

if TYPE_CHECKING:
    from markdown_it.token import Token

LONG = 16
"""Lines of one open block after which its finished part is committed."""
PIECE = 4_000
"""Characters that are taken at a time of a text that is there already."""
AT_ONCE = 12_000
"""Characters of a block that are drawn anew when it is complete."""

_UNFINISHED = re.compile(r"(?:\r|\x1b[^\n]{0,64})\Z")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})[^\n]*\n")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:", re.MULTILINE)


@dataclass(slots=True)
class _Part:
    """The block of which a part is committed and the rest stands in the tail."""

    first: int
    """Its first row."""
    parted: bool
    """Whether a blank row stands before it."""
    source: str = ""
    """Of what is committed."""
    opening: str = ""
    """What the rest needs before it, to be read as what it is: the line that opens a fence, the head of a table."""
    skipped: int = 0
    """Rows of the opening when it is drawn again."""
    columns: Sequence[int] = ()


class OpenMarkdown:
    """The rows of a growing source."""

    def __init__(self, width: int, indent: int = 0) -> None:
        self.width = width
        self.indent = indent
        self.source = ""
        self._blank = Row((Piece(" " * indent),), indent) if indent else BLANK
        self._held = ""
        self._tail = ""
        self._rows: list[Row] = []
        self._last: list[Row] = []
        """The rows of the tail as they were drawn before."""
        self._parted = False
        """Whether a blank row stands between the committed rows and the tail."""
        self._part: _Part | None = None

    def rows(self, source: str) -> list[Row]:
        """All rows, now that the source has grown to this."""
        tokens = self._grow(source[len(self.source) :])
        self.source = source
        self._last = tail = _kept(self._last, self._draw(tokens))
        between = [self._blank] if self._rows and tail and self._parted else []
        return [*self._rows, *between, *tail]

    def all_at_once(self, source: str, going: Callable[[], bool]) -> list[Row] | None:
        """The rows of a source that is there already, a piece at a time: much less is held than for all of it. None as
        `whole` says. Takes its time, as long as it is `going`."""
        at = 0
        while at < len(source) and going():
            size = max(PIECE, len(self._tail))
            self._grow(source[at : at + size])
            at += size
        self.source = source
        return self.whole()

    def _grow(self, text: str) -> list[Token]:
        """Commit what can be; what is left of it as tokens."""
        self._feed(text)
        tokens = parser().parse(self._tail)
        line, inside = _settled(tokens, self._tail)
        if not line:
            return tokens
        self._commit(line, tokens if inside else None)
        return parser().parse(self._tail)

    def whole(self) -> list[Row] | None:
        """The rows now that nothing more comes; None when what came late may have changed what stood before."""
        if self._held or _DEFINITION.search(self.source):
            return None
        self._commit(self._tail.count("\n") + 1, None)
        return self._rows

    def _feed(self, text: str) -> None:
        text = self._held + text
        unfinished = _UNFINISHED.search(text)
        self._held = unfinished[0] if unfinished else ""
        self._tail += clean(text[: len(text) - len(self._held)])

    def _draw(self, tokens: Sequence[Token]) -> list[Row]:
        part = self._part
        if part is None:
            return block_rows(tokens, self.width, self.indent)
        rows = block_rows(tokens, self.width, self.indent, part.columns)
        nothing = bool(tokens) and tokens[0].type == "fence" and not tokens[0].content
        return rows[part.skipped + nothing :]

    # --- what is finished ----------------------------------------------------------------------------------------

    def _commit(self, line: int, inside: Sequence[Token] | None) -> None:
        """Keep the rows of the first lines of the tail and forget their source. `inside`: they are a part of the block
        that these tokens begin with."""
        lines = self._tail.split("\n")
        head, self._tail = "\n".join(lines[:line]), "\n".join(lines[line:])
        ended = head if inside is not None or not self._tail else f"{head}\n"
        drawn, old = self._draw(parser().parse(ended)), self._last
        part, self._part = self._part, None
        added = head[len(part.opening) :] if part else head
        if part and inside is None and len(part.source) + len(added) < AT_ONCE:
            old = self._rows[part.first + part.parted :] + old
            del self._rows[part.first :]
            self._parted = part.parted
            drawn = block_rows(parser().parse(part.source + added), self.width, self.indent)
        drawn, self._last = _kept(old, drawn), old[len(drawn) :]
        parted = bool(self._rows and drawn and self._parted)
        self._rows += [self._blank, *drawn] if parted else drawn
        self._parted = True
        if inside is not None:
            self._part = part or self._opened(inside, head, len(self._rows) - len(drawn) - parted, parted)
            self._part.source += f"{added}\n"
            self._tail = self._part.opening + self._tail
            self._parted = inside[0].type.endswith("list_open") and head.endswith("\n")

    def _opened(self, tokens: Sequence[Token], head: str, first: int, parted: bool) -> _Part:
        """What has to be known of a block to go on with it."""
        part = _Part(first, parted)
        if tokens[0].type == "table_open":
            part.opening = "".join(head.splitlines(keepends=True)[:2])
            part.columns = columns(tokens, self.width)
            part.skipped = len(block_rows(parser().parse(part.opening), self.width, self.indent, part.columns))
        elif fence := _FENCE.match(head + "\n"):
            part.opening = fence[0]
        return part


def laid_out(source: str, width: int, indent: int = 0, going: Callable[[], bool] = lambda: True) -> list[Row]:
    """A long text, as `markdown_rows` draws a short one. For a worker; what comes of it when it is no longer `going` is
    good for nothing."""
    rows = OpenMarkdown(width, indent).all_at_once(source, going)
    return markdown_rows(clean(source), width, indent) if rows is None and going() else rows or []


def _kept(old: Sequence[Row], new: list[Row]) -> list[Row]:
    """The new rows; those that are as before are the old ones themselves, which know how they were painted."""
    return [before if before == row else row for before, row in zip(old, new, strict=False)] + new[len(old) :]


def _settled(tokens: Sequence[Token], source: str) -> tuple[int, bool]:
    """How many lines of the source can be committed, and whether they are only a part of its first block."""
    tops = [token for token in tokens if token.level == 0 and token.map]
    if not tops:
        return 0, False
    last = tops[-1]
    start, _ = last.map or (0, 0)
    if start > 0 and (last.type == "fence" or source.count("\n") > start):
        return start, False  # nothing above can change once a line of the last block is finished
    if len(tops) > 2:  # the last but one may still join: `1` becomes `1.` and goes on with the list above it
        return (tops[-2].map or (0, 0))[0], False
    if start > 0 or source.count("\n") < LONG:
        return 0, False
    return _part_of(last, tokens, source)


def _part_of(block: Token, tokens: Sequence[Token], source: str) -> tuple[int, bool]:
    """How many lines of a long open block are finished."""
    if block.type == "fence":
        return (0, False) if _closed(source) else (source.count("\n"), True)
    if block.type == "table_open":
        return (source.count("\n"), True) if not source.endswith("\n\n") else (0, False)
    if block.type in ("bullet_list_open", "ordered_list_open"):
        items = [token.map[0] for token in tokens if token.type == "list_item_open" and token.level == 1 and token.map]
        return items[-1], items[-1] > 0
    return 0, False


def _closed(fence: str) -> bool:
    """Whether the fence that opens this text is closed at its end."""
    opening = re.match(r" {0,3}(`{3,}|~{3,})", fence)
    last = fence.rstrip("\n").rpartition("\n")[2].strip()
    return bool(
        opening and "\n" in fence.rstrip("\n") and last.startswith(opening[1]) and not last.strip(opening[1][0])
    )
