"""Leaving a session while tasks of it run: the user is asked, a signal is not."""

from __future__ import annotations

import pytest

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import TaskView
from kimi_tui.ui.screens.parting import Parting
from kimi_tui.ui.screens.sessions import Sessions
from kimi_tui.ui.screens.tasks import Tasks
from tests.ui.samples import SESSIONS
from tests.ui.session import opened, reset
from tests.ui.test_app import Stage, stage

RUNNING = TaskView("bash-1", "npm run [dev]", "running", pid=4711, started_at=1.0)
ENDED = TaskView("bash-2", "make", "done", started_at=1.0, ended_at=2.0, exit_code=0)
ELSEWHERE = TaskView("bash-3", "sleep 1d", "running", started_at=1.0, orphan=True, session="/sessions/77")


def told(*tasks: TaskView) -> tuple[ev.Event, ...]:
    return opened(), reset(), ev.TasksChanged(tasks)


async def asked(shown: Stage, *keys: str) -> Parting:
    await shown.press(*keys)
    assert isinstance(shown.app.screen, Parting)
    return shown.app.screen


async def test_ctrl_d_asks_while_tasks_run_and_staying_is_the_first_answer() -> None:
    async with stage(*told(RUNNING, ENDED)) as shown:
        question = await asked(shown, "ctrl+d")
        said = ["".join(text for text, _ in row) for row in [*question._say(60), *question._commands(60)]]
        assert said == ["1 task runs in the background", "npm run [dev]"]
        await shown.press("enter")
        assert shown.app.screen is shown.app.chat
        assert cmd.Close() not in shown.agent.submitted


async def test_ctrl_c_twice_asks_and_more_of_it_changes_nothing() -> None:
    async with stage(*told(RUNNING)) as shown:
        question = await asked(shown, "ctrl+c", "ctrl+c")
        await shown.press("ctrl+c", "ctrl+d")
        assert shown.app.screen is question
        await shown.press("down", "enter")
        assert shown.agent.submitted[-1] == cmd.Close()


@pytest.mark.parametrize("typed", ["/exit", "/new", "/fork"])
async def test_commands_that_leave_the_session_ask_too(typed: str) -> None:
    async with stage(*told(RUNNING)) as shown:
        shown.write(typed)
        await asked(shown, "enter")
        assert shown.agent.submitted == []
        await shown.press("down", "enter")
        assert shown.agent.submitted[-1] == {"/exit": cmd.Close(), "/new": cmd.NewSession(), "/fork": cmd.Fork()}[typed]


async def test_picking_another_session_asks_too() -> None:
    async with stage(*told(RUNNING)) as shown:
        shown.write("/sessions")
        await shown.press("enter")
        assert isinstance(shown.app.screen, Sessions)
        await shown.tell(ev.SessionsListed(SESSIONS))
        await asked(shown, "enter")
        await shown.press("down", "enter")
        assert shown.agent.submitted[-1] == cmd.OpenSession(SESSIONS[0].path)
        assert shown.app.screen is shown.app.chat


async def test_tasks_that_have_ended_or_belong_to_another_session_keep_nobody_here() -> None:
    async with stage(*told(ENDED, ELSEWHERE)) as shown:
        await shown.press("ctrl+d")
        assert shown.agent.submitted[-1] == cmd.Close()


async def test_a_signal_asks_nobody() -> None:
    async with stage(*told(RUNNING)) as shown:
        shown.app.told_to_end()
        await shown.settle()
        assert shown.agent.submitted[-1] == cmd.Close()


async def test_the_header_counts_the_tasks_that_run_and_a_click_opens_them() -> None:
    async with stage(*told(RUNNING, ENDED, ELSEWHERE)) as shown:
        row = shown.app.chat.status.render_line(0).text
        assert row.endswith("2 tasks · ask ")
        await shown.pilot.click("Status", offset=(row.rindex("ask"), 0))
        await shown.settle()
        assert shown.app.screen is shown.app.chat
        await shown.pilot.click("Status", offset=(row.index("2 tasks") + 1, 0))
        await shown.settle()
        assert isinstance(shown.app.screen, Tasks)
        assert shown.app.screen.tasks.items[0].status == "running"
