from __future__ import annotations

from functools import reduce

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import ApprovalView, Entry, Modes, TimelineRow, Tokens, ToolView
from kimi_tui.ui.state import Compaction, Progress, Retry, ScreenState, apply
from tests.ui.session import MODEL, opened

TOOL = ToolView("c1", "Shell", "Shell", "ls")
ROW = TimelineRow("checkpoint", 0)


def after(*events: ev.Event) -> ScreenState:
    return reduce(apply, events, ScreenState())


def test_a_session_starts_clean() -> None:
    state = after(ev.TodosChanged(()), ev.CompactionStarted("auto", 5), opened(modes=Modes(plan=True)))
    assert (state.opened, state.branch, state.model, state.modes.plan) == (True, "main*", MODEL, True)
    assert state.compaction is None


def test_a_turn_is_followed_from_waiting_to_its_end() -> None:
    told = [
        ev.TurnStarted(Entry("user"), 0),
        ev.ThinkingDelta("x"),
        ev.TextDelta("x"),
        ev.ToolCallStarted(TOOL),
        ev.ToolCallFinished(TOOL),
        ev.StepEnded(1, ROW),
        ev.TurnEnded("done"),
    ]
    states = [after(*told[: number + 1]).activity for number in range(len(told))]
    assert states == ["waiting", "thinking", "answering", "tool", "waiting", "waiting", ""]


def test_a_delta_that_changes_nothing_gives_the_same_object() -> None:
    state = after(ev.TextDelta("a"))
    assert apply(state, ev.TextDelta("b")) is state


def test_a_retry_is_over_when_text_flows_again() -> None:
    state = after(ev.RetryScheduled("rate limit", 2, 3, 4.0))
    assert (state.activity, state.retry) == ("retrying", Retry("rate limit", 2, 3, 4.0))
    assert apply(state, ev.TextDelta("x")).retry is None


def test_questions_wait_until_they_are_withdrawn() -> None:
    state = after(ev.ApprovalRequested(ApprovalView("r1", "Shell", "run")), ev.QuestionAsked("r2", ()))
    assert state.questions == ("r1", "r2")
    assert apply(state, ev.ApprovalWithdrawn("r1")).questions == ("r2",)


def test_a_compaction_is_shown_from_start_to_end() -> None:
    state = after(ev.CompactionStarted("manual", 180_000), ev.CompactionProgressed("summarising", 900, 0.4))
    assert state.compaction == Compaction("manual", 180_000, "summarising", 900, 0.4)
    assert state.busy
    assert apply(state, ev.CompactionEnded("done")).compaction is None


def test_a_model_on_its_way_is_progress_until_it_is_ready() -> None:
    state = after(ev.ModelProgressed("local", "fetching", 5, 10, 1.0))
    assert state.progress == Progress("local", "fetching", 5, 10, 1.0)
    assert apply(state, ev.ModelReady(MODEL)).progress is None
    assert apply(state, ev.ModelUnavailable("local", "no network")).unavailable == "local: no network"


def test_a_broken_agent_leaves_nothing_running() -> None:
    state = after(ev.TextDelta("x"), ev.CompactionStarted("auto", 1), ev.Failed("boom"))
    assert (state.activity, state.compaction, state.failed) == ("", None, "boom")


def test_the_gauge_follows_resets_and_reports() -> None:
    assert after(ev.TokensChanged(Tokens(exact=5))).tokens == Tokens(exact=5)
    state = after(ev.TranscriptReset(0, (), (), Tokens(pending=3), undo="the revert"))
    assert (state.tokens.total, state.undo) == (3, "the revert")
