from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.ui.markdown import markdown_rows
from kimi_tui.ui.rows import Piece, Row
from kimi_tui.ui.streaming import OpenMarkdown
from tests.ui.session import ANSWER


def texts(source: str, width: int = 40) -> list[str]:
    return [row.text.rstrip() for row in markdown_rows(source, width)]


def test_blocks_are_parted_by_a_blank_row() -> None:
    assert texts("# Head\ntext\n\n---") == ["Head", "", "text", "", "─" * 40]


def test_inline_marks_become_styles() -> None:
    row = markdown_rows("a **b** `c` *d* ~~e~~", 40)[0]
    assert row.pieces == (
        Piece("a "),
        Piece("b", "strong"),
        Piece(" "),
        Piece("c", "code"),
        Piece(" "),
        Piece("d", "em"),
        Piece(" "),
        Piece("e", "strike"),
    )


def test_lists_nest_and_hang() -> None:
    assert texts("- one\n- two and three\n  1. four\n\nend", 12) == [
        "• one",
        "• two and",
        "  three",
        "  1. four",
        "",
        "end",
    ]


def test_code_keeps_its_blanks_and_gets_colours() -> None:
    rows = markdown_rows("```python\nif x:\n    return 1\n```", 40)
    assert [row.text for row in rows] == ["  if x:", "      return 1"]
    assert Piece("return", "code-keyword") in rows[1].pieces


def test_brackets_and_html_are_shown_as_they_are() -> None:
    assert texts("[/dim] [red]x[/] <b>y</b> [link=z]") == ["[/dim] [red]x[/] <b>y</b> [link=z]"]


def test_a_link_leads_somewhere_only_when_it_is_safe() -> None:
    row = markdown_rows("[a](https://x.y) [b](javascript:z)", 60)[0]
    assert Piece("a", "link", "https://x.y") in row.pieces
    assert "javascript:z" in row.text and all(not piece.link or piece.link == "https://x.y" for piece in row.pieces)


def test_a_table_fits_and_wraps_its_cells() -> None:
    table = "| a | number |\n|---|---:|\n| some long words | 7 |"
    assert texts(table, 18) == ["a           number", "──────────────────", "some long        7", "words"]


def test_a_table_without_room_becomes_a_list() -> None:
    assert texts("| a | b | c |\n|-|-|-|\n| 1 | 2 | 3 |", 10) == ["a: 1", "b: 2", "c: 3"]


@pytest.mark.parametrize("width", range(1, 13))
def test_narrow_windows_do_not_crash(width: int) -> None:
    assert markdown_rows(ANSWER + "\n> > > - a\n>   1. b 树🌳\n", width)


PIECES = st.sampled_from(
    [
        "word ",
        "**b** ",
        "`c` ",
        "\n",
        "\n\n",
        "- item\n",
        "1. one\n",
        "```\n",
        "code\n",
        "# h\n",
        "> q\n",
        "| a | b |\n",
        "漢字",
    ]
)


@settings(max_examples=100)
@given(st.lists(PIECES, max_size=30), st.integers(1, 5))
def test_streamed_markdown_shows_the_words_of_the_whole(pieces: list[str], step: int) -> None:
    source, stream = "".join(pieces), OpenMarkdown(40)
    rows = [row for end in range(0, len(source) + step, step) if (row := stream.rows(source[:end])) is not None][-1]
    assert " ".join(row.text for row in rows).split() == " ".join(row.text for row in markdown_rows(source, 40)).split()


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=80), st.integers(1, 9))
def test_what_was_streamed_to_its_end_is_the_whole(pieces: list[str], step: int) -> None:
    source, stream = "".join(pieces), OpenMarkdown(40, 2)
    for end in range(0, len(source) + step, step):
        stream.rows(source[:end])
    assert stream.whole() == markdown_rows(source, 40, 2)


BLOCKS = st.sampled_from(
    [
        "".join(f"- item {n}\n" for n in range(50)),
        "".join(f"{n}. item\n\n" for n in range(1, 60)),
        "".join(f"1. item\n   more of {n}\n" for n in range(60)),
        "| a | b |\n|---|--:|\n" + "".join(f"| {'x' * n} | {n} |\n" for n in range(70)),
        '```python\nx = """\n' + "text of it\n" * 50 + '"""\ny = 1\n```\n',
        "~~~\n" + "plain\n" * 40 + "~~~\n",
        "A paragraph.\n",
        "> quoted\n> more\n",
        "## A heading\n",
    ]
)


@settings(max_examples=12, deadline=None)
@given(st.lists(BLOCKS, min_size=1, max_size=4), st.integers(20, 150))
def test_long_blocks_are_drawn_as_a_whole_when_they_are_complete(blocks: list[str], step: int) -> None:
    source, stream = "\n".join(blocks), OpenMarkdown(60, 2)
    for end in range(0, len(source) + step, step):
        stream.rows(source[:end])
    assert stream.whole() == markdown_rows(source, 60, 2)


@pytest.mark.parametrize(
    "above", ["", "Some words.\n\n", "- a\n- list\n\n", "| a |\n|---|\n| b |\n\n", "```\ncode\n```\n"]
)
def test_only_the_last_rows_of_a_long_table_are_drawn_while_it_grows(above: str) -> None:
    rows = [f"| row {number:03} | {'word ' * 9} |\n" for number in range(200)]
    source, stream = f"{above}| name | what |\n|---|---|\n", OpenMarkdown(60)
    drawn: list[Row] = []
    for row in rows:
        source += row
        before, drawn = drawn, stream.rows(source)
        kept = sum(old is new for old, new in zip(before, drawn, strict=False))
        assert len(before) < 20 or kept >= len(before) - 2
    assert [row.text.split()[1] for row in drawn if row.text.startswith("row")] == [f"{n:03}" for n in range(200)]


def test_blank_lines_of_an_open_fence_above_another_block_are_kept() -> None:
    source, stream = "- item\n  ```\n  code\n\n\n1. one\n2. two\n", OpenMarkdown(40)
    for end in range(len(source) + 1):
        stream.rows(source[:end])
    assert stream.whole() == markdown_rows(source, 40)


def test_a_reference_that_is_defined_late_asks_for_the_whole_once_more() -> None:
    stream = OpenMarkdown(40)
    stream.rows("See [it].\n\n[it]: https://example.org\n")
    assert stream.whole() is None


def test_a_long_open_fence_is_committed_and_looks_the_same_at_the_end() -> None:
    source, stream = "Code:\n\n```python\n" + "".join(f"x{n} = {n}\n" for n in range(300)), OpenMarkdown(60)
    for end in range(0, len(source), 97):
        stream.rows(source[:end])
    assert [row.text for row in stream.rows(source)] == [row.text for row in markdown_rows(source, 60)]
    closed = source + "```\n\nDone."
    assert [row.text for row in stream.rows(closed)] == [row.text for row in markdown_rows(closed, 60)]
