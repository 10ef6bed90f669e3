"""The links of a mermaid flowchart: `-->`, `-- text -->`, `-.->`, `==>`, `<-->`, `--x`, `~~~` and their kin."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kimi_tui.flows.mermaid_text import clean, read_string
from kimi_tui.flows.scanner import Scanner


@dataclass(frozen=True, slots=True)
class Link:
    """`back` and `forth` say in which directions it leads; neither for a link that only arranges the drawing."""

    label: str | None
    forth: bool
    back: bool


@dataclass(frozen=True, slots=True)
class _Stroke:
    """One kind of line: written whole, or opened, labelled and closed."""

    whole: re.Pattern[str]
    opening: re.Pattern[str]
    closing: re.Pattern[str]


# A head `x` or `o` counts only before a blank or a bar: `--oB` and `--output text-->` start alike.
_HEAD = r"(?P<head>>|[xo](?=[\s|]|\Z))"
_TAIL = r"(?P<tail><|[xo](?=[-=]))?"
_LABEL_TEXT = r"[^\n;|]*?"

_STROKES = (
    _Stroke(
        whole=re.compile(rf"{_TAIL}-\.+-{_HEAD}?"),
        opening=re.compile(rf"{_TAIL}-\."),
        closing=re.compile(rf"(?P<text>{_LABEL_TEXT})\.+-+{_HEAD}?"),
    ),
    _Stroke(
        whole=re.compile(rf"{_TAIL}(?:=+{_HEAD}|={{3,}})"),
        opening=re.compile(rf"{_TAIL}=="),
        closing=re.compile(rf"(?P<text>{_LABEL_TEXT})(?:={{2,}}{_HEAD}|={{3,}})"),
    ),
    _Stroke(
        whole=re.compile(rf"{_TAIL}(?:-+{_HEAD}|-{{3,}})"),
        opening=re.compile(rf"{_TAIL}--"),
        closing=re.compile(rf"(?P<text>{_LABEL_TEXT})(?:-{{2,}}{_HEAD}|-{{3,}})"),
    ),
)

_EDGE_ID = re.compile(r"(?P<id>[\w-]+)@(?=[<xo]?[-=~])")
_INVISIBLE = re.compile(r"~{3,}")
_UNUSUAL = re.compile(r"(?P<tail><)?(?:-{2,}|={2,}|-\.+-?)(?P<head>[xo](?=\w)|(?<=[-=.])(?=\s))")
"""`--oB` without a blank, and `<--` without a head: only when it is not the start of a label."""
_PIPED = re.compile(r"[^\S\n]*\|(?P<text>[^|\n]*)\|")
_PIPE_QUOTE = re.compile(r"[^\S\n]*\|[^\S\n]*(?=\")")
_PIPE_END = re.compile(r"[^\S\n]*\|")
_QUOTE_AHEAD = re.compile(r"[^\S\n]*(?=\")")


def starts_link(scanner: Scanner) -> bool:
    """Whether the cursor stands before something that can only be a link."""
    return any(scanner.peek(stroke.whole) or scanner.peek(stroke.opening) for stroke in _STROKES)


def read_link(scanner: Scanner) -> Link | None:
    """The link at the cursor with its label; None when there is none."""
    scanner.take(_EDGE_ID)
    if scanner.take(_INVISIBLE):
        return Link(None, forth=False, back=False)
    for stroke in _STROKES:
        link = _read_whole(scanner, stroke.whole) or _read_labelled(scanner, stroke)
        if link is not None:
            return link
    return None


def edge_id(scanner: Scanner) -> str | None:
    """The name of the link at the cursor: `e1` in `e1@-->`."""
    match = scanner.peek(_EDGE_ID)
    return match["id"] if match else None


def _read_whole(scanner: Scanner, pattern: re.Pattern[str]) -> Link | None:
    match = scanner.take(pattern)
    if match is None:
        return None
    return _link(match["tail"], match["head"], _read_piped(scanner))


def _read_labelled(scanner: Scanner, stroke: _Stroke) -> Link | None:
    start = scanner.pos
    opening = scanner.take(stroke.opening)
    if opening is None:
        return None
    quoted = scanner.take(_QUOTE_AHEAD)
    label = read_string(scanner) if quoted else None
    closing = scanner.take(stroke.closing)
    if closing is not None:
        return _link(opening["tail"], closing["head"], f"{label or ''} {clean(closing['text'])}".strip())
    scanner.pos = start
    unusual = scanner.peek(_UNUSUAL)
    if unusual is None or not (unusual["tail"] or unusual["head"]):
        scanner.fail(f"a link that leads nowhere: {scanner.here()}")
    scanner.pos = unusual.end()
    return _link(unusual["tail"], unusual["head"] or None, _read_piped(scanner))


def _link(tail: str | None, head: str | None, label: str | None) -> Link:
    """A line without any head is read as one to the right."""
    return Link(label or None, forth=head is not None or tail is None, back=tail is not None)


def _read_piped(scanner: Scanner) -> str | None:
    if scanner.take(_PIPE_QUOTE):
        label = read_string(scanner)
        if not scanner.take(_PIPE_END):
            scanner.fail(f"the label of a link should end with `|`, found {scanner.here()}")
        return label
    match = scanner.take(_PIPED)
    return clean(match["text"]) if match else None
