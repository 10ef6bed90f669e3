"""Cards of subagents in the chat: those that work on beyond their call, and those of an earlier time."""

from __future__ import annotations

from dataclasses import replace

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import ApprovalView, Entry, SubagentView, TaskView, Tokens, ToolView
from kimi_tui.ui.state import ScreenState, answered, apply
from kimi_tui.ui.toasts import Toast, tasks_ended
from kimi_tui.ui.widgets.sheet import Sheet
from tests.ui.session import opened, reset
from tests.ui.test_app import Stage, stage

TOKENS = Tokens(exact=32_000, window=128_000)
SENT = ToolView("c1", "Agent", "Explore", "find it", "{}", "ok", "task-1", "", 0.1)
FAILED = ToolView("c2", "Agent", "Explore", "find more", "{}", "error", "failed", "no such subagent", 0.1)
CARDS = (Entry("user", "find it", turn=True), Entry("tool", tool=SENT), Entry("tool", tool=FAILED))
AT_WORK = SubagentView("c1", "a1", "explore", "find it", "running", "Grep x", 3, 9, TOKENS)
TASK = TaskView("task-1", "explore subagent a1: find it", "running", agent=AT_WORK)


def asked_for(shown: Stage) -> list[str]:
    return [command.call_id for command in shown.agent.submitted if isinstance(command, cmd.ReadSubagent)]


async def test_the_steps_of_a_card_in_sight_are_asked_for_once() -> None:
    async with stage(opened(), reset(CARDS)) as shown:
        assert asked_for(shown) == ["c1", "c2"]
        await shown.tell(
            ev.SubagentRead("c1", replace(AT_WORK, state="done"), "Read parser.py  12 lines\n"),
            ev.SubagentRead("c2", None),
        )
        assert any("32k · 3 steps" in row for row in shown.chat)
        assert not any("Read parser.py" in row for row in shown.chat)
        await shown.press("ctrl+o")
        assert any("Read parser.py  12 lines" in row for row in shown.chat)
        assert asked_for(shown) == ["c1", "c2"]


async def test_cards_out_of_sight_are_not_asked_for() -> None:
    many = tuple(Entry("assistant", f"line {number}\n\nmore") for number in range(60))
    async with stage(opened(), reset((*CARDS, *many))) as shown:
        assert asked_for(shown) == []
        await shown.press("ctrl+home")
        assert asked_for(shown) == ["c1", "c2"]


async def test_one_in_the_background_goes_on_on_its_card_when_the_call_has_ended() -> None:
    async with stage(opened(), reset(CARDS[:1])) as shown:
        await shown.tell(
            ev.ToolCallStarted(replace(SENT, outcome="running", brief="")),
            ev.SubagentChanged(AT_WORK),
            ev.ToolCallFinished(SENT),
            ev.MessageStored(1, (CARDS[1],)),
            ev.TurnEnded("done"),
            ev.ToolOutputDelta("c1", "Read parser.py  12 lines\n"),
            ev.SubagentChanged(replace(AT_WORK, steps=4)),
        )
        assert any("4 steps  Grep x" in row for row in shown.chat)
        assert any(row.startswith("▸ Explore find it  task-1") for row in shown.chat)
        assert any("Read parser.py  12 lines" in row for row in shown.chat)
        await shown.tell(ev.SubagentChanged(replace(AT_WORK, steps=5, state="done", doing="")))
        assert any("5 steps" in row for row in shown.chat)
        assert any(row.startswith("✓ Explore find it  task-1") for row in shown.chat)
        assert not any("Read parser.py" in row for row in shown.chat), "folded when it is done"
        assert asked_for(shown) == []


async def test_what_was_seen_is_not_replaced_by_what_is_read_later() -> None:
    async with stage(opened(), reset(CARDS)) as shown:
        await shown.tell(ev.SubagentChanged(AT_WORK), ev.SubagentRead("c1", replace(AT_WORK, steps=1), "old\n"))
        assert any("3 steps  Grep x" in row for row in shown.chat)


def test_a_task_knows_its_subagent_as_it_stands() -> None:
    state = apply(ScreenState(), ev.TasksChanged((TASK,)))
    later = apply(state, ev.SubagentChanged(replace(AT_WORK, steps=7)))
    assert later.tasks[0].agent is not None and later.tasks[0].agent.steps == 7
    assert apply(state, ev.SubagentChanged(replace(AT_WORK, id="a2"))) is state


def test_a_question_of_one_in_the_background_outlives_the_turn_and_ends_with_its_answer() -> None:
    state = apply(ScreenState(), ev.ApprovalRequested(ApprovalView("r1", "Shell", "run", asker="find it")))
    state = apply(state, ev.TurnEnded("done"))
    assert state.questions == ("r1",)
    assert answered(state, "r1").questions == ()
    assert answered(state, "r2") is state


async def test_an_answer_takes_the_question_off_the_title_at_once() -> None:
    async with stage(opened(), reset(CARDS[:1])) as shown:
        await shown.tell(ev.ApprovalRequested(ApprovalView("r1", "Shell", "run a command", "ls", asker="find it")))
        assert shown.app.chat.state.questions == ("r1",)
        hints = shown.app.chat.asking.approval.query_one(".hints", Sheet)
        assert "esc" not in str(hints.rows(90)), "there is no turn to stop"
        await shown.tell(ev.TurnStarted(CARDS[0], 0))
        assert "stop the turn" in str(hints.rows(90))
        await shown.press("1", "enter")
        assert cmd.AnswerApproval("r1", "once") in shown.agent.submitted
        assert shown.app.chat.state.questions == ()


def test_what_has_ended_in_the_background_is_told_unless_it_was_stopped() -> None:
    make = TaskView("task-2", "make [all]", "running")
    other = TaskView("task-3", "sleep 9", "running", session="/other")
    now = (replace(TASK, status="done"), replace(make, status="failed", exit_code=2), replace(other, status="stopped"))
    assert tasks_ended((TASK, make, other), now) == [
        Toast("done: find it"),
        Toast("failed (exit 2): make [all]", "warning"),
    ]
    assert tasks_ended(now, now) == [] and tasks_ended((), now) == []


async def test_its_end_is_told_where_nobody_looks_at_it() -> None:
    async with stage(opened(), reset(CARDS[:1])) as shown:
        await shown.tell(ev.TasksChanged((TASK,)))
        await shown.tell(ev.SubagentChanged(replace(AT_WORK, steps=5)))
        assert shown.toasts == []
        await shown.tell(ev.TasksChanged((replace(TASK, status="done"),)))
        assert shown.toasts == ["done: find it"]
