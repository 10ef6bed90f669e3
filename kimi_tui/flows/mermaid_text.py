"""The labels of a mermaid flowchart: what stands inside a node's shape, between quotes, or on a link."""

from __future__ import annotations

import html
import re

from kimi_tui.flows.scanner import Scanner

_CLOSERS = {"[": "]", "(": ")", "{": "}", ">": "]"}
_SLANTS = "/\\"
_NESTED_SHAPES = {"[": "[(", "(": "([", "{": "{"}
"""Which bracket makes a shape of its own right inside another: `[[ ]]`, `[( )]`, `(( ))`, `([ ])`, `{{ }}`."""

_QUOTED_SHAPE = re.compile(r"(?P<opener>[\[({>][\[({/\\]{0,2})[^\S\n]*(?=\")")
_BREAK = re.compile(r"[ \t]*<br\s*/?>[ \t]*", re.IGNORECASE)
_ENTITY = re.compile(r"(?:#|&#?)(?P<name>\d{1,7}|[A-Za-z]{2,31});")
_ESCAPE = re.compile(r"\\([\\\"])")
_STRING = re.compile(r'"(?P<body>(?:[^"\\]|\\.)*)"', re.DOTALL)
_PLAIN_STRING = re.compile(r'"(?P<body>[^"]*)"')
_DATA_LABEL = re.compile(r"""\blabel\s*:\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^,}\n]+))""")
_DATA = re.compile(r"""\{(?:"[^"]*"|'[^']*'|[^"'{}])*\}""")


def read_shape(scanner: Scanner, node_id: str) -> str | None:
    """The label of the shape at the cursor; None when there is no shape."""
    if scanner.char not in _CLOSERS:
        return None
    quoted = scanner.take(_QUOTED_SHAPE)
    if quoted:
        label = read_string(scanner)
        _close_quoted(scanner, quoted["opener"], node_id)
    else:
        label = _peel(_read_plain(scanner, node_id))
    return label


def read_string(scanner: Scanner) -> str:
    """A string in double quotes, over several lines if need be; markdown strings lose their backticks."""
    start = scanner.pos
    match = scanner.take(_STRING)
    if match is None:
        # A backslash before the closing quote means itself to mermaid, so it gets a second reading.
        match = scanner.take(_PLAIN_STRING)
    if match is None:
        scanner.fail(f"the quote before {_excerpt(scanner.text[start + 1 :])} is never closed")
    body = _ESCAPE.sub(r"\1", match["body"]).strip()
    if len(body) > 1 and body[0] == body[-1] == "`":
        body = body[1:-1]
    return clean(body)


def read_data(scanner: Scanner) -> str | None:
    """The label in `{ shape: diamond, label: "…" }`, if it has one."""
    block = scanner.take(_DATA)
    if block is None:
        scanner.fail(f"`@{{` is never closed: {scanner.here()}")
    label = _DATA_LABEL.search(block[0])
    if label is None:
        return None
    return clean(label["double"] or label["single"] or label["plain"] or "")


def clean(text: str) -> str:
    """Decodes mermaid's entities (`#quot;`, `#9829;`, `&amp;`) and line breaks (`<br/>`), and trims."""
    return _ENTITY.sub(_entity, _BREAK.sub("\n", text)).strip()


def _entity(match: re.Match[str]) -> str:
    name = match["name"]
    decoded = html.unescape(f"&#{name};" if name.isdigit() else f"&{name};")
    return match[0] if decoded.endswith(";") else decoded


def _close_quoted(scanner: Scanner, opener: str, node_id: str) -> None:
    for bracket in reversed(opener):
        scanner.skip_blanks()
        closers = _SLANTS if bracket in _SLANTS else _CLOSERS[bracket]
        if not scanner.char or scanner.char not in closers:
            scanner.fail(f'the label of "{node_id}" should end with `{closers}`, found {scanner.here()}')
        scanner.pos += 1


def _read_plain(scanner: Scanner, node_id: str) -> str:
    """Everything up to the bracket that closes the one at the cursor, both kept; on one line."""
    start = scanner.pos
    opener = scanner.char
    line = scanner.text[start : scanner.line_end]
    end = _balanced_end(line, opener) or line.find(_CLOSERS[opener]) + 1
    if not end:
        scanner.fail(f'the label of "{node_id}" is never closed: {scanner.here()}')
    return scanner.take_to(start + end)


def _balanced_end(text: str, opener: str) -> int:
    """Length of the bracketed text that `text` starts with; 0 when its bracket is not closed."""
    closer, depth = _CLOSERS[opener], 0
    for index, char in enumerate(text):
        if char == closer:
            depth -= 1
            if not depth:
                return index + 1
        elif char == opener:
            depth += 1
    return 0


def _peel(text: str) -> str:
    """Takes the brackets off: the outer ones, and inner ones that belong to the shape."""
    opener, inner = text[0], text[1:-1].strip()
    while inner[:1] and inner[0] in _NESTED_SHAPES.get(opener, "") and _balanced_end(inner, inner[0]) == len(inner):
        opener, inner = inner[0], inner[1:-1].strip()
    if text[0] == "[" and len(inner) > 2 and inner[0] in _SLANTS and inner[-1] in _SLANTS:
        inner = inner[1:-1]
    return clean(inner)


def _excerpt(text: str) -> str:
    return f"`{text.partition(chr(10))[0].strip()[:30]}`"
