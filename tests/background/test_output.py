"""What is kept of a task's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.background.keeper import Log
from kimi_tui.background.output import Tail, read_tail


def test_short_output_is_kept_as_it_is(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", 100, 100)
    for _ in range(30):
        log.add(b"123456789\n")
    assert (tmp_path / "log").read_bytes() == b"123456789\n" * 30


def test_of_long_output_the_head_and_the_tail_are_kept(tmp_path: Path) -> None:
    log, file, whole = Log(tmp_path / "log", 100, 200), tmp_path / "log", b""
    for number in range(5000):
        line = f"line {number}\n".encode()
        whole += line
        log.add(line)
        assert file.stat().st_size <= 100 + 2 * 200 + 100
    kept = file.read_bytes()
    head, _, rest = kept.partition(b"\n[")
    said, _, tail = rest.partition(b"]\n")
    assert head == whole[:100]
    assert whole.endswith(tail) and len(tail) >= 200
    left_out = int(said.decode().removeprefix("… ").removesuffix(" bytes left out …").replace(",", ""))
    assert len(head) + left_out + len(tail) == len(whole)


def test_a_file_that_cannot_be_written_costs_only_the_output(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    log = Log(tmp_path / "log", 10, 10)
    log.add(b"goes nowhere")


@pytest.mark.parametrize(
    ("content", "limit", "expected"),
    [
        (b"", 10, Tail("", 0, False)),
        (b"short\n", 10, Tail("short\n", 6, False)),
        (b"first\nsecond\nthird\n", 10, Tail("third\n", 19, True)),
        ("漢字漢字".encode(), 7, Tail("漢字", 12, True)),
        (b"ok \xff\xfe\n", 10, Tail("ok \ufffd\ufffd\n", 6, False)),
    ],
)
def test_the_tail_begins_with_a_line_or_at_least_a_character(
    tmp_path: Path, content: bytes, limit: int, expected: Tail
) -> None:
    (tmp_path / "log").write_bytes(content)
    assert read_tail(tmp_path / "log", limit) == expected


def test_no_file_has_no_tail(tmp_path: Path) -> None:
    assert read_tail(tmp_path / "log") == Tail()
