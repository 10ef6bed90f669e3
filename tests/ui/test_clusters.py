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
