"""The background tasks: the list, the output beside it, and stopping one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from kimi_tui.protocol.commands import ReadTask, StopTask
from kimi_tui.protocol.events import SubagentChanged, TaskRead, TasksChanged
from kimi_tui.protocol.views import Entry, SubagentView, TaskView, Tokens, ToolView
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.screens.tasks import PAUSE, Tasks
from kimi_tui.ui.widgets.readout import printed
from tests.ui.samples import NOW
from tests.ui.stage import Stage

SERVER = TaskView(
    "bash-1",
    "python -m http.server 8000",
    "running",
    "serves the docs",
    4711,
    NOW - 125,
    output_file="/data/sessions/ab/77/tasks/bash-1.log",
)
TESTS = TaskView("bash-2", "pytest -x [all]", "failed", started_at=NOW - 90, ended_at=NOW - 60, exit_code=1)
BUILD = TaskView("bash-3", "make build", "done", started_at=NOW - 300, ended_at=NOW - 200, exit_code=0)
KILLED = TaskView("bash-4", "sleep 1d", "failed", started_at=NOW - 400, ended_at=NOW - 300, exit_code=-9)
LEFT = TaskView("bash-9", "npm run dev", "running", orphan=True, started_at=NOW - 7300, session="/data/sessions/ab/77")
TASKS = (KILLED, BUILD, TESTS, LEFT, SERVER)
PRINTED = "".join(f"GET /{number}\n" for number in range(100))


def screen_of(app: Stage) -> Tasks:
    screen = app.screen_stack[1]
    assert isinstance(screen, Tasks)
    return screen


@asynccontextmanager
async def shown(
    size: tuple[int, int] = (120, 24), tasks: tuple[TaskView, ...] = TASKS
) -> AsyncIterator[tuple[Stage, Tasks, Pilot[None]]]:
    def opened() -> Tasks:
        screen = Tasks(tasks)
        screen.tasks.clock = lambda: NOW
        return screen

    app = Stage(opened)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, screen_of(app), pilot


async def wait_for_reading(app: Stage, pilot: Pilot[None], task: str) -> None:
    while ReadTask(task) not in app.commands:
        await pilot.pause(PAUSE)


def rows_of(screen: Tasks) -> list[str]:
    reading = screen.reading
    return [reading.render_line(y).text.rstrip() for y in range(reading.size.height)]


async def test_what_runs_stands_first_and_says_how_long_the_others_say_how_they_ended() -> None:
    async with shown() as (_, screen, _pilot):
        rows = [" ".join(screen.tasks.render_line(y).text.split()) for y in range(5)]
        assert rows == [
            "›▸ python -m http.server 8000 2m 05s",
            "▸ left over npm run dev 2h 01m",
            "✗ pytest -x [all] exit 1 30s",
            "✓ make build exit 0 1m 40s",
            "✗ sleep 1d SIGKILL 1m 40s",
        ]
        assert screen.facts(80) == "2 running · 5 tasks"


async def test_the_output_of_the_chosen_task_is_read_and_followed() -> None:
    async with shown() as (app, screen, pilot):
        await wait_for_reading(app, pilot, "bash-1")
        app.tell(TaskRead(SERVER, PRINTED))
        await pilot.pause()
        assert rows_of(screen)[-1].strip() == "GET /99"
        app.tell(TaskRead(SERVER, PRINTED + "GET /100\n"))
        await pilot.pause()
        assert rows_of(screen)[-1].strip() == "GET /100"


async def test_a_running_task_is_read_again_and_one_that_has_ended_is_not() -> None:
    async with shown() as (app, screen, pilot):
        await wait_for_reading(app, pilot, "bash-1")
        before = app.commands.count(ReadTask("bash-1"))
        screen._tick()
        await pilot.pause()
        assert app.commands.count(ReadTask("bash-1")) > before
        await pilot.press("down", "down")
        await wait_for_reading(app, pilot, "bash-2")
        before = app.commands.count(ReadTask("bash-2"))
        screen._tick()
        await pilot.pause()
        assert app.commands.count(ReadTask("bash-2")) == before


async def test_reading_further_up_is_not_disturbed_by_new_output() -> None:
    async with shown() as (app, screen, pilot):
        await wait_for_reading(app, pilot, "bash-1")
        app.tell(TaskRead(SERVER, PRINTED))
        await pilot.press("enter", "home")
        await pilot.pause()
        assert rows_of(screen)[0].strip() == "GET /0"
        app.tell(TaskRead(SERVER, PRINTED + "more\n"))
        await pilot.pause()
        assert rows_of(screen)[0].strip() == "GET /0"
        app.tell(TaskRead(SERVER, PRINTED[60:] + "newest\n"))
        await pilot.pause()
        assert rows_of(screen)[0].strip() == "GET /0"
        await pilot.press("end")
        screen._tick()
        await pilot.pause()
        assert rows_of(screen)[-1].strip() == "newest"


async def test_an_answer_about_another_task_is_not_shown() -> None:
    async with shown() as (app, screen, pilot):
        app.tell(TaskRead(TESTS, "E  assert\n"))
        await pilot.pause()
        assert not any("assert" in row for row in rows_of(screen))


async def test_stopping_asks_first_and_the_safe_answer_lets_it_run() -> None:
    async with shown() as (app, _, pilot):
        await pilot.press("x")
        assert isinstance(app.screen, Ask)
        await pilot.press("enter")
        assert not any(isinstance(command, StopTask) for command in app.commands)
        await pilot.press("x", "down", "enter")
        await pilot.pause()
        assert StopTask("bash-1") in app.commands


async def test_one_that_has_ended_cannot_be_stopped() -> None:
    async with shown() as (app, screen, pilot):
        await pilot.press("down", "down", "x")
        assert app.screen is screen


async def test_the_list_follows_what_happens_and_the_cursor_stays_on_its_task() -> None:
    async with shown() as (app, screen, pilot):
        ended = TaskView(
            "bash-1", SERVER.command, "stopped", started_at=SERVER.started_at, ended_at=NOW, reason="by the user"
        )
        app.tell(TasksChanged((BUILD, ended, LEFT)))
        await pilot.pause()
        assert screen.chosen == ended
        said = [" ".join(text for text, _ in row) for row in screen.head(60)]
        assert "stopped" in said[0]
        assert any("by the user" in row for row in said)


async def test_text_from_commands_and_their_output_is_literal() -> None:
    task = TaskView("bash-1", "echo [bold]x\x1b[31m\u202e", "running", started_at=NOW)
    async with shown(tasks=(task,)) as (app, screen, pilot):
        assert "[bold]x␛[31m‹202E›" in screen.tasks.render_line(0).text
        await wait_for_reading(app, pilot, "bash-1")
        app.tell(TaskRead(task, "\x1b[31m[red]red\x1b[0m\n10%\r90%\n"))
        await pilot.pause()
        assert [row.strip() for row in rows_of(screen)[:2]] == ["[red]red", "90%"]


def test_a_long_line_is_broken_wherever_the_row_ends() -> None:
    assert printed("one two three\n", 8) == [[("one two", "")], [("three", "")]]
    assert printed("ab " * 2000, 10)[:2] == [[("ab ab ab a", "")], [("b ab ab ab", "")]]
    assert printed("你好世界", 4, indent="  ") == [[("  你", "")], [("  好", "")], [("  世", "")], [("  界", "")]]


async def test_on_a_narrow_screen_list_and_output_take_turns() -> None:
    async with shown(size=(60, 16)) as (app, screen, pilot):
        assert not screen.reading.region
        await pilot.press("enter")
        await pilot.pause()
        assert screen.reading.has_focus
        assert screen.reading.region.width > 50
        await pilot.press("escape")
        await pilot.pause()
        assert screen.tasks.has_focus
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1


async def test_without_tasks_the_page_says_so() -> None:
    async with shown(tasks=()) as (_, screen, _pilot):
        assert screen.head(60) == [[("nothing runs in the background", "quiet")]]


@pytest.mark.parametrize("size", [(200, 60), (20, 5), (1, 1)])
async def test_any_size_is_survived(size: tuple[int, int]) -> None:
    async with shown(size=size) as (app, _, pilot):
        app.tell(TaskRead(SERVER, PRINTED))
        await pilot.press("enter", "escape", "x")


@pytest.mark.parametrize("size", [(110, 24), (60, 16)])
def test_it_looks_as_it_did(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    def opened() -> Tasks:
        screen = Tasks(TASKS)
        screen.tasks.clock = lambda: NOW
        return screen

    async def printed(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, Stage)
        await wait_for_reading(pilot.app, pilot, "bash-1")
        pilot.app.tell(TaskRead(SERVER, PRINTED))
        await pilot.pause()

    assert snap_compare(Stage(opened), run_before=printed, terminal_size=size)


# --- subagents ---

GAUGE = Tokens(exact=12_000, pending=400, window=128_000, reserve=32_000, trigger=96_000)
AGENT = SubagentView("call-1", "a1f3", "explore", "find the [parser]", doing="Read parser.py", steps=3, tokens=GAUGE)
HELPER = TaskView(
    "task-5", "explore subagent a1f3: find the [parser]", "running", AGENT.description, started_at=NOW - 30, agent=AGENT
)
DONE = (
    Entry("user", "Find the parser."),
    Entry("tool", tool=ToolView("t1", "ReadFile", "Read", "parser.py", "{}", "ok", "2 lines", "one\ntwo")),
)


def seen(screen: Tasks) -> list[str]:
    reader = screen.reader
    return [reader.render_line(y).text.rstrip() for y in range(reader.size.height)]


async def test_a_subagent_is_listed_by_what_it_is_to_do_with_its_own_gauge() -> None:
    async with shown(tasks=(BUILD, HELPER)) as (_, screen, _pilot):
        assert screen.tasks.render_line(0).text.split() == ["›▸", "explore", "find", "the", "[parser]", "30s"]
        said = ["".join(text for text, _ in row) for row in screen.head(60)]
        assert any("12.4k · 3 steps  Read parser.py" in row for row in said)
        assert any("task-5 · subagent a1f3" in row for row in said)


async def test_its_conversation_is_read_block_by_block_and_what_is_unfolded_stays_so() -> None:
    async with shown(tasks=(HELPER,)) as (app, screen, pilot):
        await wait_for_reading(app, pilot, "task-5")
        app.tell(TaskRead(HELPER, "Read parser.py  2 lines\n", DONE))
        await pilot.press("enter")
        await pilot.pause()
        assert screen.reader.has_focus and not screen.reading.region
        assert not any("two" in row for row in seen(screen))
        await pilot.press("space")
        await pilot.pause()
        assert any("two" in row for row in seen(screen))
        app.tell(TaskRead(HELPER, "…", (*DONE, Entry("assistant", "It is here."))))
        await pilot.pause()
        assert any("two" in row for row in seen(screen)) and any("It is here." in row for row in seen(screen))
        await pilot.press("escape")
        await pilot.pause()
        assert screen.tasks.has_focus


async def test_between_a_command_and_a_subagent_the_right_side_changes() -> None:
    async with shown(tasks=(BUILD, HELPER)) as (app, screen, pilot):
        await wait_for_reading(app, pilot, "task-5")
        app.tell(TaskRead(HELPER, "", DONE))
        await pilot.press("down")
        await wait_for_reading(app, pilot, "bash-3")
        app.tell(TaskRead(BUILD, "built\n"))
        await pilot.pause()
        assert not screen.reader.region and rows_of(screen)[0].strip() == "built"


async def test_what_changes_while_it_runs_is_shown_at_once() -> None:
    async with shown(tasks=(HELPER, SERVER)) as (app, screen, pilot):
        app.tell(SubagentChanged(replace(AGENT, steps=4, doing="Grep def parse")))
        await pilot.pause()
        said = ["".join(text for text, _ in row) for row in screen.head(60)]
        assert any("4 steps  Grep def parse" in row for row in said)
        await pilot.press("down")
        await wait_for_reading(app, pilot, "bash-1")
        app.tell(TaskRead(replace(SERVER, output_size=2048), PRINTED))
        await pilot.pause()
        assert any("2.0 KB" in text for row in screen.head(60) for text, _ in row)
