"""The words of d2: keys, strings in three kinds of quotes, text blocks, and what else may stand as a value."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from kimi_tui.flows.scanner import Scanner


@dataclass(frozen=True, slots=True)
class Word:
    """One part of a key. A quoted one is never a keyword."""

    text: str
    quoted: bool = False


# A dash belongs to a word unless it starts an arrow, a hash unless a blank stands before it.
_KEY = re.compile(r"(?:[^\n;:{}.\\#<\-]|\\(?:\n|.)|(?<=\S)#|-(?![->])|<(?!-))+")
_KEY_IN_PARENS = re.compile(r"(?:[^\n;:{}.\\#<()\-]|\\(?:\n|.)|(?<=\S)#|-(?![->])|<(?!-))+")
_PLAIN_VALUE = re.compile(r"(?:\$\{[^}\n]*\}|[^\n;{}\\#]|\\(?:\n|.)|(?<=\S)#)+")
_DOUBLE = re.compile(r'"(?P<body>(?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE = re.compile(r"'(?P<body>(?:[^'\\]|\\.|'')*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BLOCK = re.compile(r"\|(?P<fence>[^\s\w]*)(?P<tag>[A-Za-z0-9_]*)")
_NEXT_BLOCK = re.compile(r":[^\S\n]*\|[^\s\w]*\w*[^\S\n]*$")
_ARRAY = re.compile(r"""\[(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\[\]"'])*\]""")


def read_word(scanner: Scanner, *, in_parens: bool = False) -> Word | None:
    """One part of a key, or None when the cursor stands before something else."""
    if scanner.char and scanner.char in "\"'":
        return Word(read_quoted(scanner), quoted=True)
    match = scanner.take(_KEY_IN_PARENS if in_parens else _KEY)
    text = _unescape(match[0]).strip() if match else ""
    return Word(text) if text else None


def read_value(scanner: Scanner) -> str | None:
    """What follows a colon: a string, a text block or plain text; None when nothing of the kind does."""
    scanner.skip_blanks()
    if scanner.char and scanner.char in "\"'":
        return read_quoted(scanner)
    if scanner.char == "|":
        return _read_block(scanner)
    if scanner.char == "[":
        if not scanner.take(_ARRAY):
            scanner.fail(f"`[` is never closed: {scanner.here()}")
        return None
    match = scanner.take(_PLAIN_VALUE)
    return (_unescape(match[0]).strip() or None) if match else None


def read_quoted(scanner: Scanner) -> str:
    """A string in quotes, over several lines if need be."""
    match = scanner.take(_DOUBLE if scanner.char == '"' else _SINGLE)
    if match is None:
        scanner.fail(f"the quote is never closed: {scanner.here()}")
    if match[0][0] == '"':
        return _unescape(match["body"], line_breaks=True)
    return match["body"].replace("''", "'").replace("\\'", "'")


def _unescape(text: str, *, line_breaks: bool = False) -> str:
    r"""A backslash before a mark means the mark, before a letter it stays; `\n` is a line break between quotes."""

    def plain(match: re.Match[str]) -> str:
        char = match[1]
        if char == "n" and line_breaks:
            return "\n"
        return match[0] if char.isalnum() else char.strip("\n")

    return _ESCAPE.sub(plain, text) if "\\" in text else text


def _read_block(scanner: Scanner) -> str:
    """A text block: `|md … |`, `||md … ||`, `` |`md … `| ``. Common indentation goes."""
    start = scanner.pos
    opening = scanner.take(_BLOCK)
    closer = (opening["fence"][::-1] if opening else "") + "|"
    body_start = scanner.pos
    first_line = scanner.text[body_start : scanner.line_end].strip()
    end = _closing_line(scanner, closer) if not first_line or first_line.startswith("#") else -1
    if end >= 0 or not first_line:
        body_start = scanner.line_end  # drops a remark behind the tag
    if end < 0:
        end = scanner.text.find(closer, body_start)
    if end < 0:
        scanner.fail(f"the text block is never closed by `{closer}`", start)
    scanner.pos = end + len(closer)
    body = scanner.text[body_start:end]
    return textwrap.dedent(body.strip("\n").rstrip()) if "\n" in body else body.strip()


def _closing_line(scanner: Scanner, closer: str) -> int:
    """Where a line starts with the closer and holds no more text: a bar inside the text, as in a table, is text.

    -1 when the next block starts before such a line.
    """
    position = scanner.line_end + 1
    while position <= len(scanner.text):
        end = scanner.text.find("\n", position)
        end = len(scanner.text) if end < 0 else end
        line = scanner.text[position:end]
        indent = len(line) - len(line.lstrip())
        if line.lstrip().startswith(closer) and line.strip()[len(closer) :].lstrip()[:1] in ("", "{", ";", "#", "}"):
            return position + indent
        if _NEXT_BLOCK.search(line):
            return -1
        position = end + 1
    return -1
