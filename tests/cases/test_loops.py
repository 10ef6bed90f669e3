"""Repetition: honest polling goes on, cycles are cut, and the same call is the same however it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.house import calls, house


async def test_polling_whose_result_changes_is_reminded_and_never_cut(tmp_path: Path) -> None:
    poll = calls(("Shell", {"command": "n=$(cat n); echo $n; echo $((n + 1)) > n"}))
    async with house(tmp_path, [*[poll] * 14, {"text": "It moved."}]) as it:
        (it.work / "n").write_text("0\n")
        ended = await it.turn("watch it")
        assert (ended.reason, ended.steps) == ("done", 15)
        assert any("taken for waiting" in text for text in it.spoken("tool"))


CYCLE: list[tuple[str, Any]] = [
    ("Shell", {"command": "cat a"}),
    ("StrReplaceFile", {"path": "a", "edit": {"old": "nowhere", "new": "y"}}),
    ("Shell", {"command": "false"}),
]


@pytest.mark.parametrize("period", [2, 3])
async def test_a_cycle_of_steps_with_equal_results_is_cut_with_its_reason(period: int, tmp_path: Path) -> None:
    async with house(tmp_path, [calls(call) for call in CYCLE[:period]], script={"loop": True}) as it:
        (it.work / "a").write_text("x\n")
        ended = await it.turn("fix it")
        assert ended.reason == "tool_call_repeat" and ended.steps <= 8 * period
        assert f"{period} steps came" in ended.message


def written(number: int) -> str:
    """The same arguments, written another way each time."""
    pairs = [("command", "echo a"), ("timeout", 9), ("description", "say")]
    turned = pairs[number % 3 :] + pairs[: number % 3]
    return json.dumps(dict(turned), indent=number % 2 or None)


async def test_the_order_of_keys_and_blanks_make_no_new_call(tmp_path: Path) -> None:
    async with house(tmp_path, [calls(("Shell", written(number))) for number in range(14)]) as it:
        ended = await it.turn("go")
        assert (ended.reason, ended.steps) == ("tool_call_repeat", 12)


async def test_a_streak_starts_anew_after_a_letter_to_the_past(tmp_path: Path) -> None:
    again = calls(("Shell", {"command": "echo a"}))
    letter = calls(("SendDMail", {"message": "it says a", "checkpoint_id": 1}))
    async with house(tmp_path, [*[again] * 8, letter, *[again] * 8, {"text": "end"}]) as it:
        ended = await it.turn("go")
        assert (ended.reason, ended.steps) == ("done", 18)
        assert "in a row" not in it.spoken("tool")[0]
