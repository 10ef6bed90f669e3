"""Compare, context, sessions, models: what they say, and what they ask of the agent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import Tokens, TokenShare
from kimi_tui.ui.screens.compare import Compare
from kimi_tui.ui.screens.context_view import ContextView, accounted, outlook
from kimi_tui.ui.screens.model_picker import ModelPicker
from kimi_tui.ui.screens.sessions import Sessions
from tests.ui.play_timeline import SCREENS
from tests.ui.samples import GAUGE, NOW, SHARES
from tests.ui.stage import Stage
from tests.ui.waiting import settled


def text_of(app: Stage) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def opened(pilot: Pilot[None], *keys: str) -> None:
    await settled(pilot)
    await pilot.press(*keys)
    await settled(pilot)


async def test_a_comparison_shows_what_only_one_side_remembers() -> None:
    app = Stage(lambda: Compare("context_3.jsonl@4"))
    async with app.run_test(size=(120, 30)) as pilot:
        await opened(pilot)
        shown = text_of(app)
        assert app.commands == [cmd.CompareTimelines("context_3.jsonl@4", "now")]
        assert "7 entries in common · −18.3k tokens" in shown
        assert "context_3@4" in shown
        assert "only here: 6 entries" in shown
        assert "only here: 2 entries" in shown


async def test_on_a_narrow_screen_tab_changes_sides() -> None:
    app = Stage(lambda: Compare("context_3.jsonl"))
    async with app.run_test(size=(60, 16)) as pilot:
        await opened(pilot)
        assert "context_3" in text_of(app)
        await opened(pilot, "tab")
        assert "only here: 2 entries" in text_of(app)
        assert "context_3" not in text_of(app)


def test_the_shares_add_up_to_the_gauge_largest_first() -> None:
    shares = accounted(SHARES, GAUGE)
    assert sum(share.tokens for share in shares) == GAUGE.total
    assert [share.category for share in shares][:2] == ["tool results", "answers"]
    assert shares[-1] == TokenShare("not broken down", 6_900, False)
    assert accounted((TokenShare("all", GAUGE.total, True),), GAUGE) == [TokenShare("all", GAUGE.total, True)]


def test_an_empty_context_divides_by_nothing() -> None:
    assert accounted((), Tokens()) == []
    assert outlook(Tokens(), NOW) == ["no exact figure yet"]


async def test_the_context_tells_exact_from_estimated() -> None:
    app = Stage(ContextView)
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot)
        shown = text_of(app)
        assert "61.2k + ~4.1k of 128k · 51%" in shown
        assert "~41k  63%" in shown
        assert " 3.1k   5%  ━" in shown
        assert "compacts at 78k, 12.7k to go" in shown
        assert "Read tests/test_everything.py" in shown
        await opened(pilot, "enter")
        assert "Read tests/test_everything.py" not in text_of(app)


async def test_sessions_are_marked_searched_and_opened() -> None:
    app = Stage(lambda: Sessions("/s/1"))
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot)
        shown = text_of(app)
        assert "[bold]Add[/] a changelog  open elsewhere" in shown
        assert "untitled  kimi-cli" in shown
        await opened(pilot, "slash", *"接口", "enter", "enter")
        assert app.commands[-1] == cmd.OpenSession("/s/4")
        assert len(app.screen_stack) == 1


async def test_a_session_is_renamed_in_place_and_deleted_only_after_a_question() -> None:
    app = Stage(lambda: Sessions("/s/1"))
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot, "down", "down", "t", *"old", "enter")
        assert cmd.SetTitle("old", "/k/3") in app.commands
        await opened(pilot, "x", "enter")
        assert cmd.RemoveSession("/k/3") not in app.commands
        await opened(pilot, "x", "down", "enter")
        assert cmd.RemoveSession("/k/3") in app.commands


async def test_an_open_session_cannot_be_deleted() -> None:
    app = Stage(lambda: Sessions("/s/1"))
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot, "x", "down", "x")
        assert len(app.screen_stack) == 2
        assert not any(isinstance(command, cmd.RemoveSession) for command in app.commands)


async def test_a_model_is_found_by_typing() -> None:
    app = Stage(ModelPicker)
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot, *"large")
        assert "Good answers, calls single tools." in text_of(app)
        await opened(pilot, "enter")
        assert app.commands[-1] == cmd.SwitchModel("local-large")


async def test_any_model_string_can_be_typed() -> None:
    app = Stage(ModelPicker)
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot, *"ollama/qwen3:4b", "enter")
        assert app.commands[-1] == cmd.SwitchModel("ollama/qwen3:4b")


async def test_choosing_the_model_in_use_changes_nothing() -> None:
    app = Stage(ModelPicker)
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot, "enter")
        assert app.commands == [cmd.ListModels()]
        assert len(app.screen_stack) == 1


async def test_escape_empties_the_search_first() -> None:
    app = Stage(ModelPicker)
    async with app.run_test(size=(110, 30)) as pilot:
        await opened(pilot, *"xyz", "escape")
        assert len(app.screen_stack) == 2
        await opened(pilot, "escape")
        assert len(app.screen_stack) == 1


@pytest.mark.parametrize("name", sorted(SCREENS))
async def test_every_page_survives_any_size(name: str) -> None:
    opening: Callable[[], Screen[None]] = SCREENS[name]
    app = Stage(opening)
    async with app.run_test(size=(100, 30)) as pilot:
        for size in ((60, 16), (20, 5), (12, 6), (7, 3), (1, 1), (200, 60)):
            await pilot.resize_terminal(*size)
            await opened(pilot, "down")
        assert app.screen_stack[1].is_current
