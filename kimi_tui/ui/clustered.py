"""The prompt's text in rows, with places between what a reader takes for one character: the arrows and the mouse
count cells as they are shown, where Textual adds up those of every part of a joined emoji."""

from __future__ import annotations

from textual.document._wrapped_document import WrappedDocument

from kimi_tui.ui import clusters


class Clustered(WrappedDocument):
    """See the module."""

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        """The column of a line that is shown at a cell of one of its rows (counted from the end when negative)."""
        sections = self.get_sections(line_index)
        start = sum(len(section) for section in sections[:y_offset])
        row = sections[y_offset]
        if "\t" in row:
            return super().get_target_document_column(line_index, x_offset, y_offset)
        column = start + clusters.at_cell(row, x_offset)
        if y_offset in (-1, len(sections) - 1) or column < start + len(row):
            return column
        return start + clusters.before(row, len(row))
