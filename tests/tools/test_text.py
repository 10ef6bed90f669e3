from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.tools.output import CommandOutput, HeadTail
from kimi_tui.tools.text import clean, clip, one_line, visible


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain\n\ttext 世界 🌳", "plain\n\ttext 世界 🌳"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\x1b(B\x1b7", "red x"),
        ("\x1b[?1049h\x1b[2Jfull", "full"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("1%\r2%\r3%\ndone", "3%\ndone"),
        ("\r\r\n", "\n"),
        ("bell\x07 back\x08 nul\0 del\x7f", "bell␇ back␈ nul␀ del␡"),
        ("torn \x1b[", "torn "),
        ("\ud800", "\ufffd"),
    ],
)
def test_terminal_output_becomes_plain_text(raw: str, text: str) -> None:
    assert clean(raw) == text


SIGNS = "a[]m?0;\\ \t\n\r\x00\x07\x08\x1b\x7f\x85\x9b\x9d\xa0é世🌳\u2028\ud800\udcff"


@given(st.text(SIGNS, max_size=60))
def test_nothing_that_is_left_can_move_a_cursor_or_break_a_file(raw: str) -> None:
    for text in (clean(raw), visible(raw), one_line(raw)):
        text.encode("utf-8")
        assert not any((ord(sign) < 32 and sign not in "\n\t") or 127 <= ord(sign) < 160 for sign in text)


def test_a_long_text_keeps_its_head_and_tail_and_says_what_is_missing() -> None:
    text = clip("a" * 600 + "b" * 600, 200, where="/tmp/full")
    assert text.startswith("a" * 100 + "\n[… 1,000 characters left out; the whole output is in /tmp/full …]\n")
    assert text.endswith("\n" + "b" * 100)


@given(pieces=st.lists(st.text("ab\n", max_size=30), max_size=30), limit=st.integers(2, 60))
def test_head_and_tail_are_the_first_and_last_characters_however_they_came(pieces: list[str], limit: int) -> None:
    kept = HeadTail(limit)
    for piece in pieces:
        kept.add(piece)
    whole = "".join(pieces)
    text = kept.text()
    if len(whole) <= limit:
        assert text == whole
    else:
        assert text.startswith(whole[: limit // 2])
        assert text.endswith(whole[-(limit - limit // 2) :])


@given(st.text("a\n\ré世🌳\x1b[", max_size=40), st.integers(1, 5))
def test_bytes_are_decoded_alike_however_they_are_cut(text: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    shown: list[str] = []
    output = CommandOutput(shown.append)
    for start in range(0, len(data), size):
        output.feed(data[start : start + size])
    assert output.close() == clean(data.decode())
    assert "".join(shown) == data.decode()
