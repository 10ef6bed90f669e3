"""What waits, by its numbers."""

from __future__ import annotations

import pytest

from kimi_tui.cli.plain import queue
from kimi_tui.protocol import commands as cmd
from kimi_tui.ui.state import ScreenState

WAITING = ScreenState(steers=("one", "two\nlines"), prompts=("later",))


def test_what_waits_is_told_in_the_order_in_which_it_goes_out() -> None:
    assert [*queue.lines(WAITING)] == [
        "1. joins this turn: one",
        "2. joins this turn: two lines",
        "3. after this turn: later",
    ]
    assert [*queue.lines(ScreenState())] == ["Nothing waits."]


@pytest.mark.parametrize(
    ("argument", "commands"),
    [
        ("take 2", (cmd.TakeQueued("steers", 1, "two\nlines"),)),
        ("drop 3", (cmd.TakeQueued("prompts", 0, "later", drop=True),)),
        ("edit 1 new words", (cmd.TakeQueued("steers", 0, "one", drop=True), cmd.Steer("new words", (), 0))),
        ("edit 3 new", (cmd.TakeQueued("prompts", 0, "later", drop=True), cmd.SendPrompt("new", (), 0))),
        *(
            (nothing, ())
            for nothing in ("take", "take 0", "take 4", "drop x", "drop 1 2", "edit 1", "edit 1  ", "go 1")
        ),
    ],
)
def test_each_is_changed_by_its_number(argument: str, commands: tuple[cmd.Command, ...]) -> None:
    assert queue.change(argument, WAITING) == commands
