from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.ui.heights import Heights

SIZES = st.lists(st.integers(0, 9), max_size=40)


def where(sizes: list[int], row: int) -> tuple[int, int]:
    for index, size in enumerate(sizes):
        if row < size:
            return index, row
        row -= size
    return len(sizes) - 1, max(0, sizes[-1] - 1)


@given(SIZES, SIZES, st.integers(0, 40), st.data())
def test_it_answers_like_a_plain_list_after_any_changes(
    first: list[int], added: list[int], kept: int, data: st.DataObject
) -> None:
    heights, sizes = Heights(first), first[:kept] + added
    heights.truncate(kept)
    for size in added:
        heights.append(size)
    if sizes:
        index = data.draw(st.integers(0, len(sizes) - 1))
        heights.set(index, 5)
        sizes[index] = 5
    assert heights.total == sum(sizes)
    assert [heights.top(index) for index in range(len(sizes))] == [sum(sizes[:index]) for index in range(len(sizes))]
    assert [heights.find(row) for row in range(heights.total)] == [where(sizes, row) for row in range(sum(sizes))]


def test_rows_outside_go_to_the_nearest_block() -> None:
    heights = Heights([2, 3])
    assert heights.find(-1) == (0, 0)
    assert heights.find(99) == (1, 2)
    assert Heights().find(3) == (0, 0)
