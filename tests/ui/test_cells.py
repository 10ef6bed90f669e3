"""Rows of text: where they break."""

from __future__ import annotations

import pytest

from kimi_tui.ui.cells import wrap


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("drops 2 steps · 4 messages · 200 tokens", ["drops 2 steps · 4 messages ·", "200 tokens"]),
        ("drops 22 steps · 13 messages · 1.2k tokens", ["drops 22 steps · 13 messages ·", "1.2k tokens"]),
        ("the present way took about ~45k tokens", ["the present way took about", "~45k tokens"]),
    ],
)
def test_a_figure_and_its_unit_stay_in_one_row(text: str, rows: list[str]) -> None:
    assert wrap(text, 33) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1234567 tokens", ["1234567", "tokens"]),
        ("a 12345 tokens", ["a", "12345", "tokens"]),
        ("see python3 docs", ["see", "python3", "docs"]),
        ("abcdefghijkl", ["abcdefgh", "ijkl"]),
    ],
)
def test_a_row_that_is_too_narrow_for_both_breaks_between_them(text: str, rows: list[str]) -> None:
    assert wrap(text, 8) == rows


@pytest.mark.parametrize("cells", range(1, 30))
def test_no_word_is_lost_at_any_width(cells: int) -> None:
    text = "drops 2 steps · 4 messages · 200 tokens · 12 tool calls"
    assert "".join(wrap(text, cells)).replace(" ", "") == text.replace(" ", "")
