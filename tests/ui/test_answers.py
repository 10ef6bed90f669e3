"""What the terminal answers is heard, whole or in parts, and never typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual import events

from kimi_tui.ui import answers
from kimi_tui.ui.answers import Answered, Answers
from kimi_tui.ui.quick_paste import BEGIN, END

GRAPHICS, NAME = "\x1b_Gi=31;OK\x1b\\", "\x1bP>|kitty(0.39.1)\x1b\\"
TYPED = f"a{GRAPHICS}b\x1b[A{NAME}c\r"
HEARD = ["a", ("graphics", "i=31;OK"), "b", "up", ("name", "kitty(0.39.1)"), "c", "enter"]


class Time:
    now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Time]:
    clock = Time()
    monkeypatch.setattr(answers, "time", clock)
    Answers.expect()
    yield clock
    Answers.expected_until = 0.0


def told(parser: Answers, *parts: str) -> list[object]:
    heard: list[object] = []
    for event in (event for part in parts for event in parser.feed(part)):
        match event:
            case Answered(what, text):
                heard.append((what, text))
            case events.Paste(text=text):
                heard.append(("paste", text))
            case events.Key(key=key):
                heard.append(key)
    return heard


def test_answers_are_taken_out_of_what_is_typed(clock: Time) -> None:
    assert told(Answers(), TYPED) == HEARD


@pytest.mark.parametrize("size", range(1, 12))
def test_answers_may_come_in_parts(clock: Time, size: int) -> None:
    assert told(Answers(), *(TYPED[at : at + size] for at in range(0, len(TYPED), size))) == HEARD


def test_what_looks_like_an_answer_in_a_paste_is_pasted(clock: Time) -> None:
    parser = Answers()
    assert told(parser, f"{BEGIN}x", f"{GRAPHICS}y", END) == [("paste", f"x{GRAPHICS}y")]


def test_an_escape_that_nothing_follows_is_the_key(clock: Time) -> None:
    parser = Answers()
    assert told(parser, "\x1b") == []
    assert list(parser.tick()) == []
    clock.now += answers.DELAY * 2
    list(parser.tick())
    assert parser._begun == "", "Textual has it now, which waits for more of it as ever"


def test_an_answer_that_breaks_off_does_not_hold_the_keys_for_ever(clock: Time) -> None:
    parser = Answers()
    assert told(parser, "\x1b_Gi=31;") == []
    clock.now += answers.SLOW * 2
    assert list(parser.tick()) == []
    assert told(parser, "x") == ["x"], "and nothing of it is typed"


def test_what_never_ends_is_no_answer(clock: Time) -> None:
    assert "x" in told(Answers(), "\x1b_G" + "x" * answers.LONGEST)


def test_nothing_is_held_back_once_no_answer_is_expected(clock: Time) -> None:
    clock.now += answers.PATIENCE * 2
    parser = Answers()
    told(parser, "\x1b")
    assert parser._begun == ""
