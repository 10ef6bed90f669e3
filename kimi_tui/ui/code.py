"""Source code in colours: pygments tokens as pieces. Loaded on first use, since pygments takes its time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kimi_tui.ui.rows import Piece

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 60_000
"""Characters; what is longer is shown without colours, so that no frame waits for a lexer."""


def highlight(source: str, language: str) -> list[list[Piece]]:
    """One list of pieces a line. An unknown language is plain text."""
    lexer = _lexer(language.strip().lower()) if len(source) <= LONGEST else None
    if lexer is None:
        return [[Piece(line, "code-block")] for line in source.split("\n")]
    lines: list[list[Piece]] = [[]]
    for token, text in lexer.get_tokens(source):
        style = _style(str(token))
        head, *others = text.split("\n")
        if head:
            lines[-1].append(Piece(head, style))
        lines.extend([Piece(other, style)] if other else [] for other in others)
    wanted = source.count("\n") + 1
    return lines[:wanted] + [[] for _ in range(wanted - len(lines))]


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        if "." in language:
            return get_lexer_for_filename(language, stripnl=False, ensurenl=False)
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_STYLES = (
    ("Token.Comment", "code-comment"),
    ("Token.Keyword", "code-keyword"),
    ("Token.Operator.Word", "code-keyword"),
    ("Token.Literal.String", "code-string"),
    ("Token.Literal.Number", "code-number"),
    ("Token.Name.Function", "code-name"),
    ("Token.Name.Class", "code-name"),
    ("Token.Name.Tag", "code-keyword"),
    ("Token.Name.Attribute", "code-name"),
    ("Token.Name.Decorator", "code-name"),
    ("Token.Name.Builtin", "code-builtin"),
    ("Token.Name.Exception", "code-builtin"),
    ("Token.Generic.Deleted", "removed"),
    ("Token.Generic.Inserted", "added"),
    ("Token.Generic.Heading", "code-name"),
    ("Token.Generic.Subheading", "code-name"),
    ("Token.Punctuation", "code-mark"),
    ("Token.Operator", "code-mark"),
)


@lru_cache(maxsize=256)
def _style(token: str) -> str:
    return next((style for prefix, style in _STYLES if token.startswith(prefix)), "code-block")
