"""Tables that fit: columns share the width by need, cells wrap, and one hairline parts head from body."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from kimi_tui.ui.rows import Piece, Row, wrap

Cell = tuple[list[Piece], str]
"""Pieces and alignment: `left`, `right`, `center` or empty."""

GAP = 2
LEAST = 4
"""Cells a column keeps before the table is shown as a list of its cells instead."""


def column_widths(table: Sequence[Sequence[Cell]], width: int) -> list[int]:
    """How wide each column is; empty where the window is too narrow for columns."""
    columns = max((len(line) for line in table), default=0)
    if columns * (LEAST + GAP) - GAP > width:
        return []
    needs = [
        max((_width(line[column]) for line in table if column < len(line)), default=1) for column in range(columns)
    ]
    return share(needs, width - GAP * (columns - 1))


def table_rows(table: Sequence[Sequence[Cell]], width: int, given: Sequence[int] = ()) -> list[Row]:
    """The first line of `table` is its head. `given`: widths for a table with so many columns."""
    columns = max((len(line) for line in table), default=0)
    if not columns:
        return []
    widths = list(given) if len(given) == columns else column_widths(table, width)
    if not widths:
        return _as_list(table, width)
    rows: list[Row] = []
    for number, line in enumerate(table):
        rows.extend(_line(line, widths, "strong" if number == 0 else ""))
        if number == 0:
            rows.append(
                Row((Piece("─" * (sum(widths) + GAP * (columns - 1)), "faint"),), sum(widths) + GAP * (columns - 1))
            )
    return rows


def share(needs: Sequence[int], width: int) -> list[int]:
    """Widths for columns: those that need little get it, the others share what is left evenly."""
    widths = [0] * len(needs)
    left, order = width, sorted(range(len(needs)), key=lambda column: needs[column])
    for position, column in enumerate(order):
        fair = left // (len(order) - position)
        widths[column] = max(1, min(needs[column], fair))
        left -= widths[column]
    return widths


def _line(line: Sequence[Cell], widths: Sequence[int], style: str) -> list[Row]:
    cells = [
        [_padded(row, widths[column], align, style) for row in wrap(pieces, widths[column])]
        for column, (pieces, align) in enumerate(line)
    ]
    height = max((len(cell) for cell in cells), default=1)
    rows = []
    for number in range(height):
        pieces: list[Piece] = []
        for column, cell in enumerate(cells):
            if column:
                pieces.append(Piece(" " * GAP))
            pieces.extend(cell[number] if number < len(cell) else [Piece(" " * widths[column])])
        rows.append(Row(tuple(pieces)))
    return rows


def _padded(row: Row, width: int, align: str, style: str) -> list[Piece]:
    pieces = (
        [piece._replace(style=f"{piece.style} {style}".strip()) for piece in row.pieces] if style else [*row.pieces]
    )
    spare = max(0, width - row.width)
    left = spare if align == "right" else spare // 2 if align == "center" else 0
    return [*([Piece(" " * left)] if left else []), *pieces, *([Piece(" " * (spare - left))] if spare > left else [])]


def _as_list(table: Sequence[Sequence[Cell]], width: int) -> list[Row]:
    """For windows too narrow for columns: every line of the table as `head: cell`."""
    head, *body = table
    rows: list[Row] = []
    for line in body:
        for column, (pieces, _) in enumerate(line):
            name = head[column][0] if column < len(head) else []
            label = [piece._replace(style=f"{piece.style} strong".strip()) for piece in name]
            rows.extend(wrap([*label, Piece(": "), *pieces], width))
        rows.append(Row(()))
    return rows[:-1]


def _width(cell: Cell) -> int:
    return max(1, cell_len("".join(piece.text for piece in cell[0])))
