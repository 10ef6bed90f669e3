"""What the timeline shows: folds, filter, search, and that a new row costs nothing."""

from __future__ import annotations

import dataclasses

from kimi_tui.ui.timeline_list import TimelineList, key_of
from tests.counting import lines_run
from tests.ui.samples import FOLD, ROWS, jump, long_timeline, point


def listed(rows: object = ROWS) -> TimelineList:
    timeline = TimelineList()
    timeline.load(list(rows))  # type: ignore[call-overload]
    return timeline


def labels(timeline: TimelineList) -> list[str]:
    return [timeline.at(height).label for height in range(len(timeline))]


def test_branches_that_ended_are_folded_until_asked_for() -> None:
    timeline = listed()
    assert "ran pytest -x" not in labels(timeline)
    place = labels(timeline).index("context_3.jsonl")
    assert timeline.children(timeline.position(place)) == 3
    timeline.toggle(place)
    assert labels(timeline)[place + 1 : place + 4] == [
        "ran pytest -x",
        "read tests/test_everything.py",
        "searched the repository",
    ]


def test_what_a_compaction_folded_away_is_the_beginning_of_the_story_and_stays_open() -> None:
    timeline = listed([point(0, "go on", 10), *jump(FOLD), point(7, "earlier", 10, file="context_2.jsonl")])
    assert "earlier" in labels(timeline)


def test_a_turn_folds_its_steps_and_adds_up_their_tokens() -> None:
    timeline = listed()
    turn = labels(timeline).index("Fix the failing parser test")
    before = len(timeline)
    assert timeline.toggle(turn) == turn - 3
    assert len(timeline) == before - 3
    assert timeline.hidden_tokens(timeline.position(turn - 3)) == 1500


def test_folding_a_step_folds_its_turn() -> None:
    timeline = listed()
    height = timeline.toggle(labels(timeline).index("edited parser.py"))
    assert timeline.at(height).label == "Fix the failing parser test"


def test_search_reaches_what_is_folded_away() -> None:
    timeline = listed()
    timeline.query = "SEARCHED"
    timeline.sift()
    assert labels(timeline) == ["searched the repository"]


def test_filters_show_turns_jumps_or_named_points_only() -> None:
    timeline = listed([dataclasses.replace(ROWS[0], name="before the refactoring"), *ROWS[1:]])
    timeline.filter = "turns"
    timeline.sift()
    assert {row.turn for row in map(timeline.at, range(len(timeline)))} == {True}
    timeline.filter = "jumps"
    timeline.sift()
    assert {row.kind for row in map(timeline.at, range(len(timeline)))} == {"switch", "rotation"}
    timeline.filter = "named"
    timeline.sift()
    assert [row.name for row in map(timeline.at, range(len(timeline)))] == ["before the refactoring"]


def test_folds_survive_a_new_load() -> None:
    timeline = listed()
    timeline.toggle(labels(timeline).index("context_3.jsonl"))
    timeline.load([point(7, "one more", 5), *ROWS])
    assert "ran pytest -x" in labels(timeline)


def test_the_same_id_in_two_files_is_two_rows() -> None:
    live, gone = (row for row in ROWS if row.checkpoint == 4)
    assert key_of(live) != key_of(gone)
    timeline = listed()
    timeline.replace(dataclasses.replace(gone, label="news"))
    assert timeline.get(key_of(live)) == live


def test_adding_a_known_row_only_draws_it_anew() -> None:
    timeline = listed()
    assert not timeline.add(dataclasses.replace(ROWS[0], tokens=1))
    assert timeline.at(0).tokens == 1
    assert len(timeline) == len(listed())


def test_an_append_does_not_grow_with_the_session() -> None:
    def cost(number: int) -> int:
        timeline = listed(long_timeline(number))
        rows = [point(number + extra, "new", 1) for extra in range(300)]
        return lines_run(lambda: [timeline.add(row) for row in rows])

    assert cost(20_000) < cost(50) * 1.2
