"""Subagents: a memory of their own, the same steps, one report."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.agent.subagents.running import Subagents
from kimi_tui.hooks import HookDef
from kimi_tui.llm.model import ModelFault, Piece, Request
from kimi_tui.protocol.commands import AnswerApproval, Interrupt, SendPrompt
from kimi_tui.protocol.events import (
    ApprovalRequested,
    CompactionNear,
    CompactionProposed,
    MessageStored,
    SubagentChanged,
    ToolCallFinished,
    ToolOutputDelta,
    TurnEnded,
)
from kimi_tui.tools.agent import Agent
from kimi_tui.tools.base import Tool
from tests.agent.fakes import Asks, Bench, Echo, ScriptedModel, Step, Wait, bench, calls, says, small


class Troupe(ScriptedModel):
    """Answers the root from its list, and each subagent from the list under a word of its task."""

    def __init__(self, *replies: list[Step], window: int = 100_000, **parts: list[list[Step]]) -> None:
        super().__init__(*replies, window=window)
        self.parts = parts
        self.asked: dict[str, list[Request]] = {}

    async def stream(self, request: Request) -> Any:
        first = [message.text() for message in request.history[:2] if message.role == "user"]
        task = "".join(first) if "You are a subagent" in request.system else ""
        part = next((name for name in self.parts if name in task), "")
        if not part:
            async for piece in super().stream(request):
                yield piece
            return
        self.asked.setdefault(part, []).append(Request(request.system, list(request.history), request.tools))
        for step in self.parts[part].pop(0):
            if isinstance(step, Exception):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, Piece):
                yield step


def delegated(task: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "Agent", {"description": f"look at {task}", "prompt": f"Look at {task}.", "id": f"call-{task}", **more}


def stage(b: Bench, *tools: Tool) -> None:
    for tool in tools:
        b.desk.toolset.add(tool)
    b.desk.toolset.add(Agent(Subagents(b.desk)))


def result_of(b: Bench, number: int = -1) -> str:
    return [message.text() for message in b.desk.context.history if message.role == "tool"][number]


def folder_of(b: Bench) -> Path:
    return next((b.folder / "subagents").iterdir())


REPORT = "The parser lives in src/parser.py:12."


async def test_a_subagent_works_in_a_memory_of_its_own_and_only_its_report_comes_back(tmp_path: Path) -> None:
    model = Troupe(
        calls(delegated("parsers")),
        says("It is in src/parser.py."),
        parsers=[calls(("Echo", {"text": "a long file", "id": "e1"})), says(REPORT)],
    )
    async with bench(tmp_path, model) as b:
        stage(b, Echo())
        assert (await b.turn("where is the parser?")).reason == "done"
        assert result_of(b).endswith(REPORT) and "a long file" not in "".join(b.told())
        lines = [json.loads(line) for line in (folder_of(b) / "context.jsonl").read_text().splitlines()]
        assert [line["role"] for line in lines if not line["role"].startswith("_")] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert lines[0]["role"] == "_system_prompt" and "You are a subagent" in lines[0]["content"]
        assert "CHECKPOINT" not in json.dumps(lines)


async def test_its_steps_and_its_gauge_are_told_on_the_card_of_the_call(tmp_path: Path) -> None:
    model = Troupe(
        calls(delegated("parsers")),
        says("fine"),
        parsers=[calls(("Echo", {"text": "x", "id": "e1"}), text="First a look."), says(REPORT, tokens=4000)],
    )
    async with bench(tmp_path, model) as b:
        stage(b, Echo())
        await b.turn("go")
        assert "".join(event.text for event in b.all(ToolOutputDelta)) == "First a look.\nEcho x  echoed\n"
        view = b.last(SubagentChanged).subagent
        assert (view.call_id, view.type, view.description, view.state) == (
            "call-parsers",
            "coder",
            "look at parsers",
            "done",
        )
        assert (view.steps, view.tool_calls, view.tokens.exact, view.tokens.window) == (2, 1, 4000, 100_000)
        assert [event.tool.call_id for event in b.all(ToolCallFinished)] == ["call-parsers"], "its calls are not ours"
        assert b.last(ToolCallFinished).tool.brief == "2 steps, 4,100 tokens"
        assert len(b.all(MessageStored)) == 2
        assert b.desk.used == 4300, "what it used counts for the session"


async def test_several_run_at_the_same_time(tmp_path: Path) -> None:
    both = asyncio.Barrier(2)

    class Meet(Echo):
        async def __call__(self, params: Any, call: Any) -> Any:
            async with asyncio.timeout(60):
                await both.wait()
            return await super().__call__(params, call)

    one, two = ([calls(("Echo", {"text": name, "id": name})), says(f"{name} is done")] for name in ("alpha", "beta"))
    model = Troupe(calls(delegated("alpha"), delegated("beta")), says("both done"), alpha=one, beta=two)
    async with bench(tmp_path, model) as b:
        stage(b, Meet())
        assert (await b.turn("go")).reason == "done"
        assert result_of(b, -2).endswith("alpha is done") and result_of(b, -1).endswith("beta is done")
        assert len(list((b.folder / "subagents").iterdir())) == 2


@pytest.mark.parametrize(("kind", "tools"), [("coder", ["Echo", "Wait"]), ("explore", ["Echo"]), ("plan", ["Echo"])])
async def test_each_type_has_its_own_tools_and_none_can_start_another(
    tmp_path: Path, kind: str, tools: list[str]
) -> None:
    model = Troupe(calls(delegated("x-ray", subagent_type=kind)), says("ok"), **{"x-ray": [says(REPORT)]})
    async with bench(tmp_path, model, dmail=True) as b:
        stage(b, Echo(), Wait())
        await b.turn("go")
        asked = model.asked["x-ray"][0]
        assert [tool.name for tool in asked.tools] == tools


async def test_one_that_is_resumed_remembers(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("first")), says("ok"), first=[says(REPORT), says("As I said: line twelve.")])
    async with bench(tmp_path, model) as b:
        stage(b)
        await b.turn("go")
        model.replies += [calls(delegated("it again", resume=folder_of(b).name)), says("ok")]
        await b.turn("and again")
        assert [message.text() for message in model.asked["first"][1].history] == [
            "Look at first.",
            REPORT,
            "Look at it again.",
        ]
        assert result_of(b).endswith("As I said: line twelve.")


@pytest.mark.parametrize("wrong", ["nobody", "../../s", ""])
async def test_one_that_does_not_exist_cannot_be_resumed(tmp_path: Path, wrong: str) -> None:
    model = Troupe(calls(delegated("x", resume=wrong or "a/b")), says("I see"))
    async with bench(tmp_path, model) as b:
        stage(b)
        await b.turn("go")
        assert "There is no subagent" in result_of(b)
        assert not (b.folder / "subagents").exists()


async def test_an_interrupt_reaches_it_and_it_can_go_on_later(tmp_path: Path) -> None:
    wait = Wait()
    model = Troupe(calls(delegated("gold")), gold=[calls(("Wait", {"id": "w"})), says("Found at last, in the cellar.")])
    async with bench(tmp_path, model) as b:
        stage(b, wait)
        b.tell(SendPrompt("go"))
        await wait.begun.wait()
        b.tell(Interrupt())
        assert (await b.until(TurnEnded)).reason == "interrupted"
        await b.idle()
        assert b.last(SubagentChanged).subagent.state == "interrupted"
        name = folder_of(b).name
        assert name in result_of(b)
        model.replies += [calls(delegated("more", resume=name)), says("ok")]
        await b.turn("go on")
        assert result_of(b).endswith("in the cellar.")
        assert "Interrupted by the user" in model.asked["gold"][1].history[2].text()


async def test_what_it_may_do_is_asked_in_its_name(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("doors")), says("ok"), doors=[calls(("Asks", {"id": "a"})), says("They are open.")])
    async with bench(tmp_path, model) as b:
        stage(b, Asks())
        b.tell(SendPrompt("go"))
        asked = await b.until(ApprovalRequested)
        assert asked.approval.asker == "look at doors"
        b.tell(AnswerApproval(asked.approval.request_id, "once"))
        assert (await b.until(TurnEnded)).reason == "done"


async def test_a_rejection_in_it_stops_the_turn_as_any_rejection_does(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("doors")), doors=[calls(("Asks", {"id": "a"}))])
    async with bench(tmp_path, model) as b:
        stage(b, Asks())
        b.tell(SendPrompt("go"))
        asked = await b.until(ApprovalRequested)
        b.tell(AnswerApproval(asked.approval.request_id, "reject"))
        ended = await b.until(TurnEnded)
        assert (ended.reason, ended.message) == ("done", "stopped: you rejected a tool")
        assert "The user rejected what the subagent wanted to do" in result_of(b)


async def test_a_model_that_fails_in_it_is_told_to_its_sender(tmp_path: Path) -> None:
    model = Troupe(
        calls(delegated("x-ray")), says("a pity"), **{"x-ray": [[ModelFault("auth", "the key was refused")]]}
    )
    async with bench(tmp_path, model) as b:
        stage(b)
        assert (await b.turn("go")).reason == "done"
        assert "The subagent failed: the key was refused" in result_of(b)
        assert b.last(SubagentChanged).subagent.state == "failed"


async def test_a_report_that_says_nothing_is_asked_for_once_more(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("x-ray")), says("ok"), **{"x-ray": [says("Done."), says("done")]})
    async with bench(tmp_path, model) as b:
        stage(b)
        await b.turn("go")
        assert len(model.asked["x-ray"]) == 2
        assert result_of(b).endswith("done")


async def test_a_long_report_is_cut(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("x-ray")), says("ok"), **{"x-ray": [says("word " * 20_000)]})
    async with bench(tmp_path, model) as b:
        stage(b)
        await b.turn("go")
        assert 15_000 < len(result_of(b)) < 25_000


async def test_without_background_tasks_there_are_none_in_the_background(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("x", run_in_background=True)), says("I see"))
    async with bench(tmp_path, model) as b:
        stage(b)
        await b.turn("go")
        assert "There are no background tasks here" in result_of(b)
        assert not (b.folder / "subagents").exists()


async def test_its_compactions_are_its_own_and_never_wait_for_the_users_word(tmp_path: Path) -> None:
    looks = [
        calls(("Echo", {"text": f"part {n} " * 20, "id": f"e{n}"}), tokens=tokens)
        for n, tokens in ((1, 300), (2, 9000))
    ]
    model = Troupe(calls(delegated("books")), says("ok"), window=10_000, books=[*looks, says(REPORT, tokens=8000)])
    model.summaries.append(says("What was found so far."))
    async with bench(tmp_path, model, loop=small(preview=True)) as b:
        stage(b, Echo())
        assert (await b.turn("go")).reason == "done"
        assert result_of(b).endswith(REPORT)
        assert any("What was found so far." in message.text() for message in model.asked["books"][-1].history)
        assert not b.all(CompactionProposed)
        assert not b.all(CompactionNear), "how full its memory is says nothing of ours"


async def test_hooks_hear_of_it_and_may_forbid_it(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    hooks = [HookDef("SubagentStart", f"cat >> {heard}"), HookDef("SubagentStop", f"cat >> {heard}")]
    forbid = HookDef("SubagentStart", "echo not today >&2; exit 2", "plan")
    model = Troupe(
        calls(delegated("alpha")),
        says("ok"),
        calls(delegated("beta", subagent_type="plan")),
        says("ok"),
        alpha=[says(REPORT)],
    )
    async with bench(tmp_path, model, hooks=[*hooks, forbid]) as b:
        stage(b)
        await b.turn("go")
        await b.desk.hooks.finish()
        said = heard.read_text()
        assert '"SubagentStart"' in said and '"agent_name": "coder"' in said and REPORT in said
        await b.turn("again")
        assert "not today" in result_of(b)
        assert not model.asked.get("beta")


async def test_while_plan_mode_is_on_it_can_change_nothing_either(tmp_path: Path) -> None:
    model = Troupe(calls(delegated("alpha")), says("ok"), alpha=[calls(("Wait", {"id": "w"})), says(REPORT)])
    async with bench(tmp_path, model, providers=[]) as b:
        stage(b, Wait())
        b.desk.set_mode("plan", True)
        await b.turn("go")
        assert "Plan mode is on" in model.asked["alpha"][1].history[2].text()
