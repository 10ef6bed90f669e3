from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kimi_tui.ui.rows import Piece, Row, copied, shorten, spread, wrap
from kimi_tui.ui.text import clean

TEXT = st.text(st.sampled_from("ab cd  漢字，。é🙂👍🏽-"), max_size=80)


def texts(rows: list[Row]) -> list[str]:
    return [row.text for row in rows]


def test_words_go_to_the_next_row_whole() -> None:
    assert texts(wrap([Piece("one two three")], 8)) == ["one two", "three"]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert texts(wrap([Piece("abcdefghij k")], 4)) == ["abcd", "efgh", "ij k"]


def test_wide_characters_count_two_cells_and_closing_marks_stay_with_them() -> None:
    assert texts(wrap([Piece("你好世界，好")], 8)) == ["你好世", "界，好"]


def test_styles_are_kept_across_a_break() -> None:
    rows = wrap([Piece("plain "), Piece("strong text", "strong")], 8)
    assert [row.pieces for row in rows] == [(Piece("plain"),), (Piece("strong", "strong"),), (Piece("text", "strong"),)]


def test_copying_leaves_gutters_out_and_undoes_soft_wraps() -> None:
    lead = (Piece("| "),)
    rows = wrap([Piece("one two three")], 10, lead) + wrap([Piece("four")], 10, lead)
    assert copied(rows, 0, 0, None) == "one two three\nfour"
    assert copied(rows, 0, 6, 4) == "two three\nfo"


@given(TEXT, st.integers(1, 12))
def test_no_row_is_wider_than_asked_and_nothing_is_lost(text: str, width: int) -> None:
    rows = wrap([Piece(text)], width)
    assert all(cell_len(row.text) <= max(width, 2) for row in rows)
    assert copied(rows, 0, 0, None).split() == text.split()


@given(TEXT, st.integers(0, 12))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(shorten(text, width)) <= width


@given(TEXT, TEXT, st.integers(0, 30))
def test_left_and_right_never_overflow_the_row(left: str, right: str, width: int) -> None:
    row = spread([Piece(clean(left))], [Piece(clean(right))], width)
    assert sum(cell_len(piece.text) for piece in row) <= width
