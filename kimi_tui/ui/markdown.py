"""Markdown as rows. HTML is shown as it is written, images as their captions, and nothing is ever markup of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from kimi_tui.ui.code import highlight
from kimi_tui.ui.rows import Piece, Row, wrap
from kimi_tui.ui.tables import column_widths, table_rows

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

NARROWEST = 6
"""Cells that nested blocks always keep."""
USUAL = ("python", "bash", "json", "diff")
"""Languages of which one soon stands in an answer."""

_SAFE_LINK = re.compile(r"(?:https?|mailto|file):[^\x00-\x20\x7f-\x9f]+\Z")


@cache
def parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def warm_up() -> None:
    """Load what the first answer would wait for. Takes tenths of a second, beside the screen."""
    for language in USUAL:
        markdown_rows(f"```{language}\nx = 1\n```", NARROWEST)


def markdown_rows(source: str, width: int, indent: int = 0) -> list[Row]:
    """Cleaned markdown as rows of at most `width` cells after an indent, a blank row between blocks."""
    return block_rows(parser().parse(source), width, indent)


def block_rows(tokens: Sequence[Token], width: int, indent: int = 0, columns: Sequence[int] | None = None) -> list[Row]:
    """`columns`: widths that tables with so many columns have, whatever stands in them."""
    from markdown_it.tree import SyntaxTreeNode

    root = SyntaxTreeNode(tokens)
    lead = (Piece(" " * indent),) if indent else ()
    return _Blocks(max(1, width), lead, tuple(columns or ())).inside(root, loose=True)


def columns(tokens: Sequence[Token], width: int) -> list[int]:
    """The widths of the columns of the table that these begin with."""
    from markdown_it.tree import SyntaxTreeNode

    return column_widths(_cells(SyntaxTreeNode(tokens).children[0]), max(1, width))


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Draws block nodes in a column of `width` cells, each row led by `lead`."""

    width: int
    lead: tuple[Piece, ...] = ()
    columns: tuple[int, ...] = ()

    def inside(self, parent: SyntaxTreeNode, *, loose: bool) -> list[Row]:
        rows: list[Row] = []
        for node in parent.children:
            drawn = self.draw(node)
            if rows and drawn and (loose or not _tight(node)):
                rows.append(Row(self.lead, sum(len(piece.text) for piece in self.lead)))
            rows.extend(drawn)
        return rows

    def draw(self, node: SyntaxTreeNode) -> list[Row]:
        match node.type:
            case "paragraph":
                return self.lines(inline(node))
            case "heading":
                return self.lines(
                    [[piece._replace(style=f"heading {piece.style}") for piece in line] for line in inline(node)]
                )
            case "fence" | "code_block":
                return self.code(node.content.removesuffix("\n"), node.info.split(" ")[0] if node.info else "")
            case "bullet_list" | "ordered_list":
                return self.items(node)
            case "blockquote":
                return self.deeper(Piece("▎ ", "quote-bar")).inside(node, loose=True)
            case "hr":
                return [Row((*self.lead, Piece("─" * min(self.width, 40), "faint")))]
            case "table":
                return [self.led(row) for row in table_rows(_cells(node), self.width, self.columns)]
            case _:
                return self.lines([[Piece(line)] for line in node.content.rstrip("\n").split("\n")])

    def lines(self, lines: Sequence[Sequence[Piece]]) -> list[Row]:
        return [row for line in lines for row in wrap(line, self.width + self._lead_width, self.lead)]

    def code(self, source: str, language: str) -> list[Row]:
        lead = (*self.lead, Piece("  "))
        return [row for line in highlight(source, language) for row in wrap(line, self.width + self._lead_width, lead)]

    def items(self, node: SyntaxTreeNode) -> list[Row]:
        ordered = node.type == "ordered_list"
        number = int(node.attrs.get("start", 1)) if ordered else 0
        tight = all(_tight(child) for item in node.children for child in item.children)
        rows: list[Row] = []
        for item in node.children:
            bullet = f"{number}. " if ordered else "• "
            if rows and not tight:
                rows.append(Row(self.lead))
            rows.extend(self.item(item, bullet, tight))
            number += 1
        return rows

    def item(self, item: SyntaxTreeNode, bullet: str, tight: bool) -> list[Row]:
        if self.width - len(bullet) < NARROWEST:
            return self.lines([[Piece(bullet.strip(), "bullet")]]) + self.inside(item, loose=not tight)
        rows = self.deeper(Piece(" " * len(bullet))).inside(item, loose=not tight) or [Row((*self.lead, Piece(bullet)))]
        head, depth = rows[0], len(self.lead)
        rows[0] = Row((*self.lead, Piece(bullet, "bullet"), *head.pieces[depth + 1 :]), self._lead_chars, head.joint)
        return rows

    def deeper(self, piece: Piece) -> _Blocks:
        if self.width - len(piece.text) < NARROWEST:
            return _Blocks(self.width, (*self.lead, Piece("", piece.style)))
        return _Blocks(self.width - len(piece.text), (*self.lead, piece))

    def led(self, row: Row) -> Row:
        return Row((*self.lead, *row.pieces), self._lead_chars + row.gutter, row.joint) if self.lead else row

    @property
    def _lead_chars(self) -> int:
        return sum(len(piece.text) for piece in self.lead)

    @property
    def _lead_width(self) -> int:
        return self._lead_chars


def _tight(node: SyntaxTreeNode) -> bool:
    """Whether a block stands in a list without blank lines around it (markdown-it hides such paragraphs)."""
    return bool(node.type != "paragraph" or node.hidden)


def inline(node: SyntaxTreeNode) -> list[list[Piece]]:
    """The text of a paragraph, heading or table cell as lines of pieces."""
    lines: list[list[Piece]] = [[]]
    for child in node.children:
        if child.type != "inline":
            continue
        for piece in _inline(child, "", ""):
            if piece.text == "\n":
                lines.append([])
            elif piece.text:
                lines[-1].append(piece)
    return lines


_MARKS = {"strong": "strong", "em": "em", "s": "strike"}


def _inline(node: SyntaxTreeNode, style: str, link: str) -> Iterator[Piece]:
    for child in node.children:
        match child.type:
            case "text" | "html_inline":
                yield Piece(child.content, style, link)
            case "softbreak":
                yield Piece(" ", style, link)
            case "hardbreak":
                yield Piece("\n")
            case "code_inline":
                yield Piece(child.content, f"code {style}".strip(), link)
            case "image":
                yield Piece(f"[image: {child.content or child.attrs.get('src', '')}]", f"quiet {style}".strip(), link)
            case "link":
                target = str(child.attrs.get("href", ""))
                safe = target if _SAFE_LINK.match(target) else ""
                yield from _inline(child, f"link {style}".strip(), safe)
                if not safe and target:
                    yield Piece(f" ({target})", "quiet")
            case kind if kind in _MARKS:
                yield from _inline(child, f"{style} {_MARKS[kind]}".strip(), link)
            case _:
                yield Piece(child.content, style, link)


def _cells(table: SyntaxTreeNode) -> list[list[tuple[list[Piece], str]]]:
    """Rows of (pieces, alignment); the first row is the head."""
    return [
        [
            ([piece for line in inline(cell) for piece in line], str(cell.attrs.get("style", "")).rpartition(":")[2])
            for cell in line.children
        ]
        for part in table.children
        for line in part.children
    ]
