"""What a reader takes for one character: a letter with its accents, a joined emoji, a flag. The caret never rests
inside of one, and one key deletes it as a whole."""

from __future__ import annotations

from itertools import pairwise

from rich.cells import cell_len, split_graphemes

_LONGEST = 64
"""Characters that are looked at around the caret: lines may be endless, clusters are not."""

JOINERS = {"zero_width_joiner": "\u200d", "zero_width_non_joiner": "\u200c"}
"""Keys that bring what is invisible, but part of a cluster: a text box takes them for keys without a character."""


def before(text: str, column: int) -> int:
    """Where the cluster begins that ends at `column`."""
    first = max(0, column - _LONGEST)
    return first + max((edge for edge in _edges(text[first:column]) if first + edge < column), default=0)


def after(text: str, column: int) -> int:
    """Where the cluster ends that begins at `column`."""
    return column + next((edge for edge in _edges(text[column : column + _LONGEST]) if edge), 0)


def around(text: str, column: int) -> tuple[int, int]:
    """Where the cluster begins and ends that `column` is inside of; `column` twice when it is inside of none."""
    if not 0 < column < len(text) or text[column - 1 : column + 1].isascii():
        return column, column
    first = max(0, column - _LONGEST)
    edges = [first + edge for edge in _edges(text[first : column + _LONGEST])]
    if column in edges:
        return column, column
    return max((edge for edge in edges if edge < column), default=0), min(edge for edge in edges if edge > column)


def at_cell(text: str, cells: int) -> int:
    """Where the cluster begins that covers a cell of the text; its end for what is right of it."""
    if text.isascii():
        return min(max(0, cells), len(text))
    edges, used = _edges(text), 0
    for start, end in pairwise(edges):
        used += cell_len(text[start:end])
        if used > cells:
            return start
    return edges[-1]


def _edges(text: str) -> list[int]:
    """Where clusters begin, and the end of the text."""
    edges: list[int] = []
    flag = False
    for start, end, _ in split_graphemes(text)[0]:
        half = end == start + 1 and "\U0001f1e6" <= text[start] <= "\U0001f1ff"
        if half and flag:
            flag = False  # the second half of a flag belongs to the first
            continue
        flag = half
        edges.append(start)
    return [*edges, len(text)]
