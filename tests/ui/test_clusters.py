"""One key, one character as a reader counts them."""

from __future__ import annotations

import pytest

from kimi_tui.ui import clusters

CLUSTERS = ["a", "é", "e\u0301", "你", "😀", "👨‍👩‍👧", "👍🏽", "❤️", "1️⃣", "🇩🇪", "🇫🇷"]


def test_going_back_stops_before_each_cluster_and_going_on_behind_it() -> None:
    text, column = "".join(CLUSTERS), 0
    ends = [column := column + len(cluster) for cluster in CLUSTERS]
    there, back = [0], [len(text)]
    while there[-1] < len(text):
        there.append(clusters.after(text, there[-1]))
    while back[-1] > 0:
        back.append(clusters.before(text, back[-1]))
    assert there == [0, *ends] == back[::-1]


@pytest.mark.parametrize("text", ["", "\u0301", "\u200d\u200d", "a" * 1000])
def test_nonsense_and_long_lines_end(text: str) -> None:
    assert clusters.before(text, 0) == 0
    assert clusters.after(text, len(text)) == len(text)
    assert clusters.before(text, len(text)) == max(0, len(text) - 1) or len(text) < 3


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_place_inside_of_a_cluster_is_told_from_one_between_two(cluster: str) -> None:
    text = f"{cluster}a{cluster}"
    for inside in range(1, len(cluster)):
        assert clusters.around(text, inside) == (0, len(cluster))
    for between in (0, len(cluster), len(cluster) + 1, len(text)):
        assert clusters.around(text, between) == (between, between)


def test_a_cell_belongs_to_the_cluster_that_is_shown_there() -> None:
    text = "a👨‍👩‍👧你b"
    assert [clusters.at_cell(text, cell) for cell in range(8)] == [0, 1, 1, 6, 6, 7, 8, 8]
