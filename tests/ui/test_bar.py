"""The scrollbar of long lists."""

from __future__ import annotations

import pytest
from rich.color import Color
from textual.strip import Strip

from kimi_tui.ui.widgets.bar import bar, ink

INK = ink(Color.parse("blue"), Color.parse("black"), 1)


def filled(rows: list[Strip]) -> list[int]:
    """By how many eighths the thumb fills each row."""
    known = {id(INK.above): 0, id(INK.below): 0, id(INK.thumb): 8}
    known |= {id(strip): part for part, strip in enumerate(INK.heads) if part}
    known |= {id(strip): 8 - part for part, strip in enumerate(INK.tails) if part}
    return [known[id(row)] for row in rows]


def test_the_thumb_is_as_long_as_what_is_in_sight_and_where_it_is() -> None:
    assert filled(bar(INK, 10, 100, 50, 0)) == [8] * 5 + [0] * 5
    assert filled(bar(INK, 10, 100, 50, 50)) == [0] * 5 + [8] * 5
    assert filled(bar(INK, 10, 100, 50, 25)) == [0, 0, 4, 8, 8, 8, 8, 4, 0, 0]


def test_what_is_all_in_sight_needs_no_thumb() -> None:
    assert filled(bar(INK, 5, 5, 5, 0)) == [0] * 5
    assert filled(bar(INK, 5, 3, 0, 0)) == [0] * 5
    assert bar(INK, 0, 9, 3, 0) == []


@pytest.mark.parametrize("total", [11, 64, 5_000, 1_000_000])
def test_the_thumb_never_shrinks_away_nor_leaves_the_bar(total: int) -> None:
    for position in {0, 1, total // 3, total // 2, total - 11, total - 10, total + 5}:
        rows = filled(bar(INK, 10, total, 10, position))
        assert len(rows) == 10
        assert sum(rows) == max(8, round(800 / total))
    assert filled(bar(INK, 10, total, 10, 0))[0] == 8
    assert filled(bar(INK, 10, total, 10, total - 10))[-1] == 8


def test_above_and_below_the_thumb_a_click_goes_a_page_and_on_it_one_takes_hold() -> None:
    rows = bar(INK, 10, 100, 20, 40)
    assert [row._segments[0].style.meta["@mouse.down"] for row in (rows[0], rows[5], rows[9])] == [
        "scroll_up",
        "grab",
        "scroll_down",
    ]
