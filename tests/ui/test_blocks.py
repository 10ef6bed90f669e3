from __future__ import annotations

import pytest

from kimi_tui.protocol.views import Entry, ToolView
from kimi_tui.ui.blocks import OWN_ROWS, entry_rows, foldable, gap
from kimi_tui.ui.cells import duration
from kimi_tui.ui.drawing import Drawing
from kimi_tui.ui.marks import ASCII
from tests.ui.session import ENTRIES


def texts(entry: Entry, width: int = 60, *, unfolded: bool = False, live: str = "") -> list[str]:
    return [row.text.rstrip() for row in entry_rows(entry, Drawing(width, unfolded, live=live))]


def tool(**fields: object) -> Entry:
    return Entry("tool", tool=ToolView("c", "Shell", "Shell", "pytest", **fields))  # type: ignore[arg-type]


def test_a_tool_is_one_row_with_its_time_at_the_end() -> None:
    row = "  ✓ Shell pytest  41 passed" + " " * 29 + "3.2s"
    assert texts(tool(outcome="ok", brief="41 passed", output="a\nb", seconds=3.2)) == [row]


def test_an_unfolded_tool_shows_its_output_as_it_is() -> None:
    assert texts(tool(outcome="ok", output="[red]a\n\x1b[31mb\n"), unfolded=True)[1:] == ["    [red]a", "    b"]


def test_a_failed_tool_shows_the_end_of_its_output() -> None:
    rows = texts(tool(outcome="error", brief="exit 1", output="1\n2\n3\n4\n5\n"))
    assert rows == ["  ✗ Shell pytest  exit 1", "    3", "    4", "    5"]


def test_a_running_tool_shows_what_it_prints() -> None:
    assert texts(tool(), live="1\n2\n3\n4\n5\n6") == ["  ▸ Shell pytest", "    3", "    4", "    5", "    6"]


def test_what_the_user_ran_shows_what_it_printed() -> None:
    entry = Entry("tool", tool=ToolView("u", "!", "You ran", "ls", outcome="ok", output="a\nb\n"))
    assert texts(entry) == ["  ✓ You ran ls", "    a", "    b"]


@pytest.mark.parametrize("output", ["\n".join(map(str, range(30))), "x" * 5_000, "x" * 5_000 + "\nend\n\n"])
def test_the_card_of_the_users_own_command_says_when_it_shows_only_the_end(output: str) -> None:
    entry = Entry("tool", tool=ToolView("u", "!", "You ran", "x", outcome="ok", output=output))
    _, told, *rows = texts(entry)
    assert told.strip() == "… more above"
    assert len(rows) == OWN_ROWS


def test_outcomes_can_be_told_apart_without_colour() -> None:
    outcomes = ("running", "ok", "error", "rejected", "interrupted", "timeout")
    assert len({texts(tool(outcome=outcome))[0] for outcome in outcomes}) == len(outcomes)


def test_a_line_of_a_million_characters_is_folded_by_rows() -> None:
    rows = entry_rows(tool(outcome="ok", output="x" * 1_000_000), Drawing(80, True))
    assert len(rows) <= 2_003
    assert rows[-1].text.strip().startswith("…")


def test_a_long_prompt_is_folded_and_says_so() -> None:
    rows = texts(Entry("user", "\n".join(str(n) for n in range(100)), turn=True))
    assert len(rows) == 13 and rows[-1] == "▌ … 88 more lines"


def test_a_jump_says_from_where_to_where_and_what_it_freed() -> None:
    mail = next(entry for entry in ENTRIES if entry.kind == "dmail")
    head, *rest = texts(mail, 90)
    assert head.startswith("  ↶ D-Mail 9 → 4  19 messages set aside, 18.3k tokens freed")
    assert head.endswith("context_3") and rest == []
    assert "parse_items() is where it breaks." in " ".join(texts(mail, 112, unfolded=True))


def test_thinking_is_folded_until_it_is_asked_for() -> None:
    entry = Entry("thinking", "hm\nyes", seconds=4)
    assert texts(entry) == ["  ▸ thought for 4.0s"]
    assert texts(entry, unfolded=True) == ["  ▾ thought for 4.0s", "  │ hm", "  │ yes"]


def test_an_error_is_followed_by_what_to_do() -> None:
    assert texts(Entry("error", "No network.\nTry later.")) == ["  ✗ No network.", "    Try later."]


@pytest.mark.parametrize("width", range(1, 14))
@pytest.mark.parametrize("unfolded", [False, True])
def test_every_kind_fits_any_width(width: int, unfolded: bool) -> None:
    for entry in ENTRIES:
        for row in entry_rows(entry, Drawing(width, unfolded)):
            assert row.width <= max(width, 8), (entry.kind, row.text)


def test_every_kind_has_an_ascii_form() -> None:
    for entry in ENTRIES:
        plain = Entry(entry.kind, "x", tool=entry.tool and ToolView("a", "b", "c", "d", outcome=entry.tool.outcome))
        for row in entry_rows(plain, Drawing(60, True, ASCII)):
            assert row.text.isascii(), row.text


def test_quiet_rows_stay_together_and_prose_is_set_apart() -> None:
    assert (gap("tool", "tool"), gap("tool", "assistant"), gap("user", "tool")) == (0, 1, 1)


def test_only_what_hides_something_can_be_unfolded() -> None:
    assert [foldable(entry) for entry in ENTRIES[:3]] == [False, False, True]


def test_durations_are_short() -> None:
    assert [duration(seconds) for seconds in (0.04, 9.9, 12, 65, 7800)] == ["0.0s", "9.9s", "12s", "1m 05s", "2h 10m"]
