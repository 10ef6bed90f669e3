from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.ui.text import clean, one_line


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain [bold]text[/] {x}", "plain [bold]text[/] {x}"),
        ("\x1b[31mred\x1b[0m \x1b[2J\x1b[?1049h", "red "),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        ("\x1bP1;2|data\x1b\\after", "after"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("longer\rab", "abnger"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("a\tb", "a   b"),
        ("bell\x07 nul\x00", "bell␇ nul␀"),
        ("o\x08over", "over"),
        ("rm -rf \u202egpj.", "rm -rf ‹202E›gpj."),
        ("zero\u200bwidth", "zero‹200B›width"),
        ("family 👨‍👩‍👧 stays", "family 👨‍👩‍👧 stays"),
        ("surrogate \ud800", "surrogate �"),
        ("e" + "\u0301" * 40, "e" + "\u0301" * 4),
        ("c1 \x9b31m", "c1 "),
    ],
)
def test_foreign_text_becomes_visible_characters(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(st.text(st.characters(codec=None), max_size=60))
def test_no_control_character_but_the_line_break_survives(raw: str) -> None:
    shown = clean(raw)
    assert not [char for char in shown if char != "\n" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]
    shown.encode("utf-8")


@given(st.text(max_size=60))
def test_cleaning_twice_changes_nothing(raw: str) -> None:
    assert clean(clean(raw)) == clean(raw)


def test_a_title_stays_on_one_line() -> None:
    assert one_line(" two\nlines\x1b[0m ") == "two ⏎ lines"
