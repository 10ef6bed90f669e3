"""Pastes as the terminal sends them, in pieces of any size."""

from __future__ import annotations

import pytest
from textual import events

from kimi_tui.ui.quick_paste import BEGIN, END, QuickPaste

TEXT = "one\r\ntwo \x1b[31mred\x1b[0m 你好 [201~ \x1b[20 \x00nul \x1b"
INPUT = f"ab{BEGIN}{TEXT}{END}c\x1b[A\x1b[2~{BEGIN}{END}d\r{BEGIN}again{END}"
HEARD = [
    ("key", "a"),
    ("key", "b"),
    ("paste", TEXT.replace("\x00", "")),
    ("key", "c"),
    ("key", "up"),
    ("key", "insert"),
    ("paste", ""),
    ("key", "d"),
    ("key", "enter"),
    ("paste", "again"),
]


def told(*parts: str) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    parser = QuickPaste()
    for part in parts:
        for event in parser.feed(part) if part else ():
            if isinstance(event, events.Paste):
                heard.append(("paste", event.text))
            elif isinstance(event, events.Key):
                heard.append(("key", event.key))
    return heard


def test_it_hears_what_was_typed_and_pasted() -> None:
    assert told(INPUT) == HEARD


@pytest.mark.parametrize("mark", [found for found in range(len(INPUT)) if INPUT.startswith((BEGIN, END), found)])
@pytest.mark.parametrize("size", range(3, 7))
def test_a_mark_may_come_in_two_pieces(mark: int, size: int) -> None:
    assert told(INPUT[: mark + size], INPUT[mark + size :]) == HEARD


def test_a_paste_may_come_in_many_pieces() -> None:
    assert told(BEGIN, *"plain text", *END, "x") == [("paste", "plain text"), ("key", "x")]


def test_a_paste_whose_first_mark_comes_sign_by_sign_is_heard_too() -> None:
    assert ("paste", "plain text") in told(*f"{BEGIN}plain text{END}x")


def test_the_end_of_the_input_is_heard() -> None:
    parser = QuickPaste()
    assert list(parser.feed("")) == [] and parser.is_eof
