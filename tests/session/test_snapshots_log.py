"""The log of what changed files: which passages lie after a moment, whatever the conversation did meanwhile."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.session.snapshots import Passage, SnapshotLog, Stretch, stretches


def told(folder: Path) -> SnapshotLog:
    """Two steps, a restore that went with leaving the first timeline, a step on the new one."""
    log = SnapshotLog(folder)
    for checkpoint, made in ((1, 10.0), (3, 30.0)):
        step = log.begin(Passage(checkpoint=checkpoint, made=made, at=made + 1, before=f"b{checkpoint}"))
        log.add(step.n, after=f"a{checkpoint}")
    restore = log.begin(Passage(why="revert", at=40.0, before="a3", after="b3"))
    log.add(restore.n, left="root")
    step = log.begin(Passage(checkpoint=3, made=50.0, at=51.0, before="b3"))
    log.add(step.n, after="a5")
    return log


def numbers(passages: list[Passage]) -> list[int]:
    return [passage.n for passage in passages]


def test_passages_since_a_checkpoint_are_those_after_its_time_not_its_number(tmp_path: Path) -> None:
    log = told(tmp_path)
    assert numbers(log.since(0, 5.0)) == [1, 2, 3, 4]
    assert numbers(log.since(1, 10.0)) == [1, 2, 3, 4]
    assert numbers(log.since(3, 30.0)) == [2, 3, 4]
    assert numbers(log.since(3, 50.0)) == [4]
    assert numbers(log.since(4, 60.0)) == []
    assert numbers(log.since(0, None)) == [1, 2, 3, 4]


def test_what_went_with_leaving_a_timeline_is_found_by_it(tmp_path: Path) -> None:
    log = told(tmp_path)
    left = log.left("root")
    assert left is not None and left.n == 3
    assert log.left("other") is None
    assert numbers(log.since_left("root", 41.0)) == [3, 4]
    assert numbers(log.since_left("other", 41.0)) == [4]


def test_another_process_reads_the_same(tmp_path: Path) -> None:
    assert told(tmp_path).passages == SnapshotLog(tmp_path).passages


def test_torn_and_foreign_lines_are_passed_over_and_the_next_line_is_whole(tmp_path: Path) -> None:
    told(tmp_path)
    path = tmp_path / "snapshots.jsonl"
    path.write_bytes(b'\xff\xfe\n{"n":9,"after":"x"}\n[]\n' + path.read_bytes() + b'{"n":5,"befo')
    log = SnapshotLog(tmp_path)
    assert numbers(log.passages) == [1, 2, 3, 4]
    log.begin(Passage(at=60.0, before="a5"))
    assert numbers(SnapshotLog(tmp_path).passages) == [1, 2, 3, 4, 5]


def test_a_passage_that_never_ended_lasts_until_the_next_began(tmp_path: Path) -> None:
    passages = [Passage(n=1, before="a"), Passage(n=2, before="b", after="c"), Passage(n=3, before="d")]
    assert stretches(passages) == [Stretch("a", "b"), Stretch("b", "c")]
