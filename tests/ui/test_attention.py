from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from kimi_tui.options import UiOptions
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import ApprovalView
from kimi_tui.ui.attention import heading, notification, title, worth_a_bell
from kimi_tui.ui.marks import ASCII, UNICODE
from kimi_tui.ui.state import ScreenState
from tests.ui.session import opened, reset
from tests.ui.test_app import stage


@pytest.mark.parametrize(
    ("event", "looking", "said"),
    [
        (ev.TurnEnded("done", seconds=12), False, "done"),
        (ev.TurnEnded("done", seconds=12), True, ""),
        (ev.TurnEnded("done", seconds=300), True, "done"),
        (ev.TurnEnded("max_steps", seconds=12), False, "the turn ended: max steps"),
        (ev.TurnEnded("done", seconds=2), False, ""),
        (ev.ApprovalRequested(ApprovalView("r", "Shell", "run a command")), False, "wants to run a command"),
        (ev.ApprovalRequested(ApprovalView("r", "Shell", "run a command")), True, ""),
        (ev.QuestionAsked("r", ()), False, "has a question"),
        (ev.StepStarted(1), False, ""),
    ],
)
def test_only_what_somebody_who_looks_elsewhere_wants_to_know_rings(event: ev.Event, looking: bool, said: str) -> None:
    assert worth_a_bell(event, looking=looking) == said


def test_titles_cannot_smuggle_escape_codes() -> None:
    assert title("a\x1b]0;b\x07\nc") == "\x1b]2;a ⏎ c\x07"
    assert notification("x\x07y").count("\x07") == 2


def test_the_title_tells_whether_it_works_asks_or_broke() -> None:
    idle = ScreenState(opened=True, work_dir="/src/parser")
    assert heading(idle, UNICODE) == "parser – kimi-tui"
    assert heading(replace(idle, title="Fix it", activity="thinking"), UNICODE) == "▸ Fix it – kimi-tui"
    assert heading(replace(idle, activity="tool"), ASCII) == "> parser – kimi-tui"
    assert heading(replace(idle, activity="tool", questions=("r",)), UNICODE) == "? parser – kimi-tui"
    assert heading(replace(idle, failed="it broke"), UNICODE) == "✗ parser – kimi-tui"
    assert heading(ScreenState(), UNICODE) == "kimi-tui"


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_question_rings_while_somebody_looks_elsewhere_unless_that_is_not_wanted(
    wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ev.ApprovalRequested(ApprovalView("r", "Shell", "run a command"))
    async with stage(opened(), reset(), options=UiOptions(notifications=wanted)) as shown:
        said: list[str] = []
        monkeypatch.setattr(shown.app, "say", said.append)
        await shown.tell(asked)
        assert said == [title("? Fix the parser – kimi-tui")]
        shown.app.post_message(events.AppBlur())
        await shown.tell(ev.ApprovalWithdrawn("r"), asked)
        assert (notification("wants to run a command") in said) is wanted
