"""Signs about whose width terminals disagree."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from kimi_tui.ui.in_place import in_place

_STEPS = re.compile(r"\x1b7|\x1b8|\x1b\[(\d+)C|\x1b\][^\x07]*\x07|(.)", re.DOTALL)

SAMPLES = ("☺️", "👍🏽", "🇩🇪", "👨‍👩‍👧‍👦", "1️⃣", "नमस्ते", "தமிழ்", "\u1100\u1161\u11a8", "🫠", "❤️‍🔥", "🌳")


class Terminal:
    """One row of a terminal, with an idea of its own how wide signs are."""

    def __init__(self, width_of: Callable[[str], int]) -> None:
        self.width_of = width_of
        self.cells = ["·"] * 40
        self.column = 0
        self.kept = 0

    def take(self, output: str) -> Terminal:
        for step in _STEPS.finditer(output):
            if step[0] == "\x1b7":
                self.kept = self.column
            elif step[0] == "\x1b8":
                self.column = self.kept
            elif step[1]:
                self.column += int(step[1])
            elif step[2]:
                self._put(step[2])
        return self

    def _put(self, sign: str) -> None:
        width = self.width_of(sign)
        self.cells[self.column : self.column + width] = [sign, *[""] * (width - 1)] if width else []
        self.column += width


IDEAS: dict[str, Callable[[str], int]] = {
    "nothing is joined, all is wide": lambda sign: 1 if sign.isascii() else 2,
    "nothing is wide": lambda sign: 1,
    "what is new is not there": lambda sign: 0 if ord(sign) > 0x2000 else 1,
}


@pytest.mark.parametrize("width_of", IDEAS.values(), ids=IDEAS.keys())
@pytest.mark.parametrize("sign", SAMPLES)
def test_what_follows_stands_in_its_column_whatever_the_terminal_takes_the_width_to_be(
    sign: str, width_of: Callable[[str], int]
) -> None:
    terminal = Terminal(width_of).take(in_place(f"ab{sign}cd"))
    column = 2 + cell_len(sign)
    assert terminal.cells[:2] == ["a", "b"]
    assert terminal.cells[column : column + 2] == ["c", "d"]
    assert terminal.column == column + 2
    assert "·" not in terminal.cells[:column], "nothing of what was there before is left"


@pytest.mark.parametrize("text", ["plain", "● ─── ▌ …", "你好 한국어", "ê", "\x1b[38;2;1;2;3m9 of 10\x1b[0m", "❤ ☺"])
def test_what_all_terminals_agree_on_is_written_as_it_is(text: str) -> None:
    assert in_place(text) == text


@pytest.mark.parametrize(
    "code", ["\x1b]0;working 🌳\x07", "\x1b]8;id=1;http://example.com/🌳\x1b\\", "\x1bPtmux;🌳\x1b\\"]
)
def test_what_stands_on_no_row_is_left_alone(code: str) -> None:
    assert in_place(f"{code}x") == f"{code}x"
    assert in_place(f"{code}🌳").startswith(f"{code}\x1b7")
