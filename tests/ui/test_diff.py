"""Differences: numbered lines, nothing hidden, nothing slow."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from kimi_tui.protocol.views import DiffView
from kimi_tui.ui.diff import DiffLine, counts, diff_lines, digits, folded, line_spans, pair_spans, paired, shown
from tests.counting import lines_run
from tests.ui.samples import AFTER, BEFORE


def told(before: str, after: str) -> list[str]:
    signs = {"same": " ", "added": "+", "removed": "-", "skipped": "…"}
    return [f"{signs[line.kind]}{line.text or line.count or ''}" for line in diff_lines(DiffView("x", before, after))]


def test_lines_carry_the_numbers_of_their_own_side() -> None:
    lines = diff_lines(DiffView("parser.py", BEFORE, AFTER))
    assert counts(lines) == (3, 1)
    assert [(line.kind, line.old, line.new) for line in lines if line.kind in ("added", "removed")] == [
        ("removed", 5, None),
        ("added", None, 5),
        ("added", None, 6),
        ("added", None, 7),
    ]


def test_far_equal_lines_are_counted_and_left_out() -> None:
    before = "".join(f"{n}\n" for n in range(50))
    after = before.replace("25\n", "twenty-five\n")
    assert told(before, after) == ["…22", " 22", " 23", " 24", "-25", "+twenty-five", " 26", " 27", " 28", "…21"]


def test_a_single_left_out_line_is_shown_instead() -> None:
    before = "".join(f"{n}\n" for n in range(8))
    assert told(before, before.replace("4\n", "four\n"))[0] == " 0"


def test_equal_texts_have_no_difference() -> None:
    assert diff_lines(DiffView("x", BEFORE, BEFORE)) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "new\n", ["+new"]),
        ("old\n", "", ["-old"]),
        ("a\n", "a", ["-a", "+a ⟨no line end⟩"]),
        ("a\r\nb\n", "a\nb\n", ["-a\r", "+a", " b"]),
    ],
)
def test_ends_of_files_and_lines_are_changes_like_others(before: str, after: str, expected: list[str]) -> None:
    assert told(before, after) == expected


def test_what_changed_inside_a_line_is_marked() -> None:
    removed, added = diff_lines(DiffView("x", "size = 10  # cells\n", "size = 200  # cells\n"))
    assert removed.changed is not None
    assert added.changed is not None
    assert removed.text[slice(*removed.changed)] == "1"
    assert added.text[slice(*added.changed)] == "20"


def test_nothing_of_a_long_line_is_out_of_sight() -> None:
    line = shown(DiffLine("added", "x = '" + "树🌳" * 60 + "'; os.remove(path)", new=3))
    rows = folded(line, 20)
    assert "".join(row.text for row in rows) == line.text
    assert all(cell_len(row.text) <= 20 for row in rows)
    assert [row.goes_on for row in rows] == [False] + [True] * (len(rows) - 1)


def test_a_fold_keeps_the_mark_of_what_changed() -> None:
    line = DiffLine("added", "a" * 30 + "CHANGED" + "b" * 30, new=1, changed=(30, 37))
    pieces = [row.text[slice(*row.changed)] for row in folded(line, 10) if row.changed]
    assert "".join(pieces) == "CHANGED"


def test_control_codes_are_seen_not_obeyed() -> None:
    text = shown(DiffLine("added", "a\x1b[2K\rb\u202e\t\x08", new=1)).text
    assert "␛[2K␍b" in text
    assert not set("\x1b\r\u202e\t\x08") & set(text)


@pytest.mark.parametrize("width", range(1, 30))
def test_rows_are_never_wider_than_asked(width: int) -> None:
    lines = [shown(line) for line in diff_lines(DiffView("x", BEFORE, AFTER.replace("items", "树🌳")))]
    for line in lines:
        assert sum(cell_len(text) for text, _ in line_spans(line, digits(lines), width)) <= max(width, 3)
    for pair in paired(lines):
        assert sum(cell_len(text) for text, _ in pair_spans(pair, digits(lines), width * 2 + 1)) <= max(
            width * 2 + 1, 8
        )


def test_two_columns_set_new_beside_old() -> None:
    pairs = paired(diff_lines(DiffView("x", "a\nb\n", "a\nc\nd\n")))
    assert [(left.text if left else None, right.text if right else None) for left, right in pairs] == [
        ("a", "a"),
        ("b", "c"),
        (None, "d"),
    ]


def test_the_numbers_start_where_the_excerpt_does() -> None:
    removed, added = diff_lines(DiffView("x", "a\n", "b\n", first_line=120))
    assert (removed.old, added.new) == (120, 120)


def test_a_rewritten_file_costs_no_more_per_line_than_a_small_one() -> None:
    def cost(lines: int) -> int:
        diff_lines.cache_clear()
        before = "".join(f"old line {n % 7}\n" for n in range(lines))
        after = "".join(f"new line {n % 5}\n" for n in range(lines))
        view = DiffView("x", before, after)
        run = lines_run(lambda: diff_lines(view))
        assert counts(diff_lines(view)) == (lines, lines)
        return run

    assert cost(20_000) < cost(2_000) * 12
