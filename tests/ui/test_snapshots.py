"""Pictures of the screen. Look at a changed one before accepting it: `pytest --snapshot-update` and open the SVG."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from kimi_tui.options import UiOptions
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import TaskView, TodoItem
from kimi_tui.ui.app import KimiApp
from kimi_tui.ui.widgets import gauge
from tests.ui.fakes import ScriptedAgent
from tests.ui.samples import ROWS
from tests.ui.session import opened, reset
from tests.ui.waiting import all_shown, heard, until

UNDATED = tuple(replace(row, at=None) for row in ROWS)
"""Rows whose age does not change from day to day."""

Steps = Callable[[KimiApp, Pilot[None]], Awaitable[None]]


def picture(
    snap_compare: Any,
    size: tuple[int, int],
    steps: Steps | None = None,
    *,
    told: tuple[ev.Event, ...] = (),
    theme: str = "dark",
    plain: bool = False,
) -> bool:
    agent = ScriptedAgent((opened(), reset(rows=UNDATED), *told))
    app = heard(KimiApp(agent.connect, UiOptions(theme=theme, ascii=plain)), agent)

    async def before(pilot: Pilot[None]) -> None:
        await all_shown(app, agent, pilot)
        if steps:
            await steps(app, pilot)
            await all_shown(app, agent, pilot)

    return bool(snap_compare(app, terminal_size=size, run_before=before))


@pytest.mark.parametrize(
    ("name", "size", "theme"),
    [
        ("dark", (120, 36), "dark"),
        ("light", (120, 36), "light"),
        ("huge", (200, 50), "contrast"),
        ("small", (60, 16), "dark"),
        ("tiny", (20, 5), "dark"),
    ],
)
def test_the_chat(snap_compare: Any, name: str, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, size, theme=theme)


def test_ascii_only(snap_compare: Any) -> None:
    assert picture(snap_compare, (100, 30), plain=True)


def test_without_colours(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert picture(snap_compare, (100, 30))


def test_a_compaction(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauge, "monotonic", lambda: 1.0)  # it tells the seconds
    told = (ev.CompactionStarted("manual", 65_300), ev.CompactionProgressed("summarising", 1_900))
    assert picture(snap_compare, (100, 24), told=told)


def test_commands_over_the_prompt(snap_compare: Any) -> None:
    async def steps(app: KimiApp, pilot: Pilot[None]) -> None:
        await pilot.press("/", "c", "down")

    assert picture(snap_compare, (100, 24), steps)


def test_everything_unfolded_and_found(snap_compare: Any) -> None:
    async def steps(app: KimiApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+o", "ctrl+f", *"items")
        await until(pilot, lambda: app.chat.finder.sought == "items")
        await pilot.press("enter")

    assert picture(snap_compare, (120, 36), steps)


def test_the_timeline_over_a_narrow_chat(snap_compare: Any) -> None:
    async def steps(app: KimiApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+t", "down")

    assert picture(snap_compare, (60, 20), steps)


def test_help(snap_compare: Any) -> None:
    async def steps(app: KimiApp, pilot: Pilot[None]) -> None:
        await pilot.press("f1")

    assert picture(snap_compare, (90, 30), steps)


def test_a_to_do_list_and_tasks_that_run(snap_compare: Any) -> None:
    async def steps(app: KimiApp, pilot: Pilot[None]) -> None:
        await pilot.press("alt+t")

    todos = (TodoItem("read the parser", "done"), TodoItem("edit it", "in_progress"), TodoItem("run tests", "pending"))
    task = TaskView("bash-1", "npm run dev", "running", started_at=1.0)
    assert picture(snap_compare, (100, 24), steps, told=(ev.TodosChanged(todos), ev.TasksChanged((task,))))
