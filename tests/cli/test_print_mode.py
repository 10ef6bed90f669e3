"""One turn without a screen: what is printed where, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.cli.print_mode import PrintedTurn
from kimi_tui.protocol.commands import AnswerApproval, AnswerQuestion, Close, Command, RunSlash, SendPrompt
from kimi_tui.protocol.events import (
    ApprovalRequested,
    Event,
    FlowEnd,
    FlowEnded,
    FlowStarted,
    MessageStored,
    ModelProgressed,
    ModelUnavailable,
    Noticed,
    PromptReturned,
    QuestionAsked,
    RetryScheduled,
    TasksChanged,
    TokensChanged,
    ToolCallFinished,
    TurnEnded,
)
from kimi_tui.protocol.views import ApprovalView, Entry, FlowView, QuestionView, TaskView, Tokens, ToolView
from tests.cli.scripted import STARTED, ScriptedAgent, answered


async def printed(agent: ScriptedAgent, output_format: str = "text", prompt: str = "hi") -> int:
    async def connect() -> ScriptedAgent:
        return agent

    return await PrintedTurn(connect, prompt, output_format).run()


async def test_the_answer_goes_to_standard_output_and_nothing_else_does(capsys: pytest.CaptureFixture[str]) -> None:
    agent = ScriptedAgent(answered("Hello [b]there[/b] 你好"))
    assert await printed(agent) == 0
    assert capsys.readouterr() == ("Hello [b]there[/b] 你好\n", "")
    assert agent.commands == [SendPrompt("hi"), Close()]


async def test_only_the_last_thing_said_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    looking = MessageStored(
        1, (Entry("assistant", "I look."), Entry("tool", tool=ToolView("1", "Shell", "Shell", "ls")))
    )
    assert await printed(ScriptedAgent([STARTED, looking, *answered("Done.")[1:]])) == 0
    assert capsys.readouterr().out == "Done.\n"


async def test_escape_codes_of_a_model_are_printed_as_marks(capsys: pytest.CaptureFixture[str]) -> None:
    await printed(ScriptedAgent(answered("a\x1b[31mb\tc\nd\x07")))
    assert capsys.readouterr().out == "a␛[31mb\tc\nd␇\n"


@pytest.mark.parametrize("reason", ["failed", "max_steps", "tool_call_repeat", "blocked"])
async def test_a_turn_that_did_not_get_done_exits_with_one_and_says_why(
    reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = TurnEnded(reason, "no such model", "Try -m.")  # type: ignore[arg-type]
    assert await printed(ScriptedAgent([*answered("so far")[:3], ended])) == 1
    assert capsys.readouterr() == ("so far\n", "kimi-tui: no such model. Try -m.\n")


async def test_a_model_that_cannot_be_had_ends_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert await printed(ScriptedAgent([ModelUnavailable("kimi", "no key", "Set MOONSHOT_API_KEY.")])) == 1
    assert capsys.readouterr() == ("", "kimi-tui: no key. Set MOONSHOT_API_KEY.\n")


async def test_warnings_and_retries_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    noise: list[Event] = [
        Noticed("one line was repaired", "warning"),
        Noticed("fine"),
        RetryScheduled("HTTP 429", 1, 3, 2.0),
    ]
    assert await printed(ScriptedAgent([*noise, *answered("ok")])) == 0
    out, err = capsys.readouterr()
    assert out == "ok\n"
    assert err == "kimi-tui: one line was repaired\nkimi-tui: HTTP 429: try 1 of 3 follows in 2 s\n"


async def test_weights_that_are_fetched_first_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    coming: list[Event] = [ModelProgressed("local", "fetching", done, 100) for done in (0, 50, 100)]
    assert await printed(ScriptedAgent([*coming, ModelProgressed("local", "warming", 1, 9), *answered("ok")])) == 0
    assert capsys.readouterr() == ("ok\n", "fetching local …\n")


async def test_json_is_one_object_with_the_answer_and_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    turn = answered("Hi")
    turn[3:3] = [
        ToolCallFinished(ToolView("1", "Shell", "Shell", "ls", outcome="ok")),
        TokensChanged(Tokens(70, 3, 128)),
    ]
    assert await printed(ScriptedAgent(turn), "json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "result": "Hi",
        "reason": "done",
        "error": "",
        "session_id": "20260101-000000-abcdef",
        "session": "/data/s",
        "model": "scripted",
        "steps": 1,
        "tool_calls": 1,
        "seconds": 0.5,
        "tokens": {"exact": 70, "pending": 3, "window": 128},
        "cost": None,
    }


async def test_json_tells_a_fault_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert await printed(ScriptedAgent([STARTED, TurnEnded("failed", "boom")]), "json") == 1
    out, err = capsys.readouterr()
    assert (json.loads(out)["reason"], json.loads(out)["error"], err) == ("failed", "boom", "kimi-tui: boom\n")


async def test_stream_json_prints_each_event_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert await printed(ScriptedAgent(answered("a\u2028b\ud83d")), "stream-json") == 0
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    names = [json.loads(line)["event"] for line in lines]
    assert names == ["SessionOpened", "TurnStarted", "TextDelta", "MessageStored", "TurnEnded", "Closed"]


async def test_what_waits_for_a_person_is_refused() -> None:
    asked: list[Event] = [
        ApprovalRequested(ApprovalView("a1", "Shell", "run a command")),
        QuestionAsked("q1", (QuestionView("Which?"),)),
    ]
    agent = ScriptedAgent([STARTED, *asked, *answered("ok")[1:]])
    assert await printed(agent) == 0
    assert AnswerApproval("a1", "reject", "nobody is there to approve this") in agent.commands
    assert AnswerQuestion("q1", ()) in agent.commands


async def test_an_agent_that_breaks_is_not_waited_for() -> None:
    with pytest.raises(RuntimeError, match="broke"):
        await printed(ScriptedAgent([STARTED], breaks=RuntimeError("broke")))


async def test_keys_do_not_show_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    await printed(ScriptedAgent([STARTED, TurnEnded("failed", "bad key sk-FAKE0000000000000000 (Bearer abcdef)")]))
    assert capsys.readouterr().err == "kimi-tui: bad key *** (Bearer ***)\n"


HANGING = """
import asyncio, sys
from kimi_tui.cli.print_mode import PrintedTurn
from tests.cli.scripted import STARTED, ScriptedAgent
async def connect():
    return ScriptedAgent([STARTED], hangs=True)
sys.exit(asyncio.run(PrintedTurn(connect, "hi", "stream-json").run()))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_turn_in_good_order(number: signal.Signals, code: int) -> None:
    root = str(Path(__file__).parents[2])
    child = subprocess.Popen(
        [sys.executable, "-c", HANGING], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root}
    )
    assert child.stdout is not None
    seen = []
    for line in child.stdout:
        seen.append(json.loads(line)["event"])
        if seen[-1] == "TurnStarted":
            child.send_signal(number)
    assert child.wait(60) == code
    assert seen[-2:] == ["TurnEnded", "Closed"]


def flow(*texts: str, reason: FlowEnd = "done", message: str = "") -> list[Event]:
    """A flow of turns that say these."""
    turns = [event for text in texts for event in answered(text)]
    return [FlowStarted(FlowView("ralph", ())), *turns, FlowEnded("ralph", reason, message, len(texts), 1200)]


async def test_a_flow_is_over_with_its_last_turn_and_not_before(capsys: pytest.CaptureFixture[str]) -> None:
    agent = ScriptedAgent(flow("one", "two", "three"))
    assert await printed(agent, "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["result"], told["steps"], told["reason"]) == ("three", 3, "done")
    assert told["flow"] == {"name": "ralph", "reason": "done", "iterations": 3, "tokens": 1200}
    assert agent.commands == [SendPrompt("hi"), Close()]


@pytest.mark.parametrize(
    ("reason", "code"), [("max_moves", 0), ("no_choice", 1), ("empty_rounds", 1), ("max_cost", 1), ("stopped", 1)]
)
async def test_why_a_flow_ended_early_is_said_and_only_a_used_up_limit_is_no_fault(
    capsys: pytest.CaptureFixture[str], reason: FlowEnd, code: int
) -> None:
    assert await printed(ScriptedAgent(flow("one", reason=reason, message="ralph stopped: so"))) == code
    assert capsys.readouterr() == ("one\n", "kimi-tui: ralph stopped: so\n")


async def test_what_still_works_in_the_background_ends_with_the_run_and_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    running = TaskView("task-1", "explore subagent a1: look around", "running")
    tasks = (running, TaskView("task-2", "make", "done"), TaskView("task-3", "sleep 9", "running", session="/other"))
    assert await printed(ScriptedAgent([STARTED, TasksChanged(tasks), *answered("Done.")[1:]])) == 0
    assert capsys.readouterr() == (
        "Done.\n",
        "kimi-tui: ended with the run, while it was at work in the background: explore subagent a1: look around\n",
    )


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("/ralph 3 make it green", RunSlash("ralph", "3 make it green")),
        ("/flow-release\nv2", RunSlash("flow:release", "v2")),
        ("/stats", SendPrompt("/stats")),
        ("/etc/hosts is what?", SendPrompt("/etc/hosts is what?")),
    ],
)
async def test_a_prompt_may_be_a_command_that_starts_turns(prompt: str, command: Command) -> None:
    agent = ScriptedAgent(answered("ok"))
    assert await printed(agent, prompt=prompt) == 0
    assert agent.commands == [command, Close()]


async def test_a_command_that_cannot_start_ends_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    agent = ScriptedAgent([PromptReturned("/flow:release", "the flow has no END")])
    assert await printed(agent, prompt="/flow:release") == 1
    assert capsys.readouterr() == ("", "kimi-tui: the flow has no END\n")
