"""Hooks around a turn: who may stop what, and what they are told."""

from __future__ import annotations

import json
from pathlib import Path

from kimi_tui.hooks import HookDef
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.events import PromptReturned, SteerTaken, TurnStarted
from tests.agent.fakes import Echo, ScriptedModel, bench, calls, says


async def test_a_blocked_prompt_is_given_back_and_leaves_no_trace(tmp_path: Path) -> None:
    hooks = [HookDef("UserPromptSubmit", "echo 'no secrets please' >&2; exit 2", matcher="password")]
    async with bench(tmp_path, ScriptedModel(says("ok")), hooks=hooks) as it:
        ended = await it.turn("my password is x")
        assert (ended.reason, ended.message) == ("blocked", "no secrets please")
        assert it.last(PromptReturned).text == "my password is x"
        assert not it.all(TurnStarted) and not (tmp_path / "s" / "context.jsonl").exists()
        assert (await it.turn("hello")).reason == "done"


async def test_a_blocked_call_is_not_run_and_the_model_learns_why(tmp_path: Path) -> None:
    hooks = [HookDef("PreToolUse", "cat > call.json; echo 'not today' >&2; exit 2", matcher="^Echo$")]
    model = ScriptedModel(calls(("Echo", {"text": "x"})), says("ok"))
    async with bench(tmp_path, model, tools=[Echo()], hooks=hooks) as it:
        await it.turn("echo")
        assert "not today" in it.model.sent()[-1]
        body = json.loads((tmp_path / "call.json").read_text())
        assert (body["tool_name"], body["tool_input"], body["tool_call_id"]) == ("Echo", {"text": "x"}, "c0")


async def test_calls_are_told_to_hooks_afterwards(tmp_path: Path) -> None:
    hooks = [HookDef("PostToolUse", "cat > ok.json"), HookDef("PostToolUseFailure", "cat > bad.json")]
    model = ScriptedModel(calls(("Echo", {"id": "a", "text": "x"})), says("ok"))
    async with bench(tmp_path, model, tools=[Echo()], hooks=hooks) as it:
        await it.turn("echo")
    assert json.loads((tmp_path / "ok.json").read_text())["tool_output"] == "x"
    assert not (tmp_path / "bad.json").exists()


async def test_a_stop_hook_can_send_the_model_on_once(tmp_path: Path) -> None:
    hooks = [HookDef("Stop", "echo 'run the tests first' >&2; exit 2")]
    async with bench(tmp_path, ScriptedModel(says("done"), says("tests pass")), hooks=hooks) as it:
        ended = await it.turn("fix it")
        assert (ended.reason, ended.steps) == ("done", 2)
        assert it.last(SteerTaken).entry.text == "run the tests first"
        assert it.model.sent() == ["user: fix it", "assistant: done", "user: run the tests first"]


async def test_a_failed_turn_and_the_end_of_the_session_are_told(tmp_path: Path) -> None:
    hooks = [HookDef("StopFailure", "cat > failed.json"), HookDef("SessionEnd", "cat > ended.json")]
    async with bench(tmp_path, ScriptedModel([ModelFault("auth", "wrong key")]), hooks=hooks) as it:
        await it.turn("hi")
    assert json.loads((tmp_path / "failed.json").read_text())["error_message"] == "wrong key"
    assert json.loads((tmp_path / "ended.json").read_text())["reason"] == "exit"


async def test_a_broken_hook_stops_nothing(tmp_path: Path) -> None:
    hooks = [
        HookDef("UserPromptSubmit", "exit 1"),
        HookDef("PreToolUse", "/no/such/thing"),
        HookDef("Stop", "kill -9 $$"),
    ]
    model = ScriptedModel(calls(("Echo", {"text": "x"})), says("ok"))
    async with bench(tmp_path, model, tools=[Echo()], hooks=hooks) as it:
        assert (await it.turn("echo")).reason == "done"
        assert "tool: x" in it.told()
