"""Flows and the Ralph loop as the agent walks them: one activity, its turns, its moves, its end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.commands import Interrupt, RevertTo, RunSlash, SendPrompt, Steer
from kimi_tui.protocol.events import (
    FlowEnded,
    FlowMoved,
    FlowStarted,
    Noticed,
    PromptReturned,
    SteerTaken,
    StepEnded,
    TextDelta,
    TranscriptReset,
    TurnEnded,
    TurnStarted,
)
from tests.agent.fakes import Asks, Bench, ScriptedModel, Wait, bench, calls, quick, says


async def ended(b: Bench) -> FlowEnded:
    event = await b.until(FlowEnded)
    await b.idle()
    return event


def names(b: Bench) -> list[str]:
    """The names of the turns' checkpoints, in order."""
    found = {event.row.checkpoint: event.row.name for event in b.all(StepEnded)}
    return [name for name in found.values() if name]


async def test_ralph_repeats_the_task_until_the_model_says_stop(tmp_path: Path) -> None:
    model = ScriptedModel(
        says("begun"),
        says("more <choice>CONTINUE</choice>"),
        says("All done. <choice>STOP</choice>"),
        says("not asked"),
    )
    async with bench(tmp_path, model) as b:
        b.tell(RunSlash("ralph", "5 make it green"))
        end = await ended(b)
        assert (end.flow, end.reason, end.iterations, end.tokens) == ("ralph", "done", 3, 300)
        assert [(move.node, move.iterations, move.choice) for move in b.all(FlowMoved)] == [
            ("R1", 1, ""),
            ("R2", 2, ""),
            ("R2", 3, "CONTINUE"),
        ]
        assert names(b) == ["ralph 1", "ralph 2", "ralph 3"]
        assert len(model.replies) == 1
        assert [event.entry.text[:24] for event in b.all(TurnStarted)] == [
            "/ralph 5 make it green",
            "ralph 2: make it green -",
            "ralph 3: make it green -",
        ]
        await b.do(RevertTo(2))
        assert b.last(TranscriptReset).prompt == "", "the loop's own words are not the user's"
        assert b.desk.title == "/ralph 5 make it green"


async def test_the_graph_is_told_before_the_first_turn(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("a"), says("<choice>STOP</choice>"))) as b:
        b.tell(RunSlash("ralph", "do it"))
        await ended(b)
        flow = b.last(FlowStarted).flow
        assert [(node.id, node.kind, node.ways) for node in flow.nodes] == [
            ("BEGIN", "begin", (("", "R1"),)),
            ("END", "end", ()),
            ("R1", "task", (("", "R2"),)),
            ("R2", "decision", (("CONTINUE", "R2"), ("STOP", "END"))),
        ]
        kinds = [
            kind for kind in b.kinds() if kind in ("FlowStarted", "FlowMoved", "TurnStarted", "TurnEnded", "FlowEnded")
        ]
        assert kinds == ["FlowStarted", *["FlowMoved", "TurnStarted", "TurnEnded"] * 2, "FlowEnded"]


@pytest.mark.parametrize(("said", "rounds"), [("2 go on", 2), ("go on", 20)])
async def test_ralph_keeps_to_its_number_of_rounds(tmp_path: Path, said: str, rounds: int) -> None:
    model = ScriptedModel(*[says("<choice>CONTINUE</choice>") for _ in range(30)])
    async with bench(tmp_path, model) as b:
        b.tell(RunSlash("ralph", said))
        end = await ended(b)
        assert (end.reason, end.iterations, len(model.requests)) == ("max_moves", rounds, rounds)
        assert str(rounds) in end.message


async def test_with_max_ralph_iterations_every_prompt_is_a_loop(tmp_path: Path) -> None:
    model = ScriptedModel(*[says("<choice>CONTINUE</choice>") for _ in range(9)])
    async with bench(tmp_path, model, loop=quick(max_ralph_iterations=2)) as b:
        b.tell(SendPrompt("fix it"))
        assert (await ended(b)).iterations == 3, "once, and two rounds more"
        assert b.desk.title == "fix it"


async def test_a_loop_without_a_limit_ends_when_the_model_says_so(tmp_path: Path) -> None:
    model = ScriptedModel(*[says("<choice>CONTINUE</choice>") for _ in range(40)], says("<choice>STOP</choice>"))
    async with bench(tmp_path, model, loop=quick(max_ralph_iterations=-1)) as b:
        b.tell(SendPrompt("fix it"))
        end = await ended(b)
        assert (end.reason, end.iterations, b.last(FlowStarted).flow.limit) == ("done", 41, None)


async def test_esc_ends_the_whole_loop_and_not_one_round(tmp_path: Path) -> None:
    stuck = asyncio.Event()
    model = ScriptedModel(
        says("one"), [*says("half of it")[:2], stuck], says("asked later"), says("<choice>STOP</choice>")
    )
    async with bench(tmp_path, model, loop=quick(max_ralph_iterations=-1)) as b:
        b.tell(SendPrompt("go"))
        await b.until(TextDelta, 4)
        b.tell(Interrupt())
        end = await ended(b)
        assert (end.reason, end.message) == ("stopped", "ralph stopped: interrupted")
        assert [event.reason for event in b.all(TurnEnded)] == ["done", "interrupted"]
        assert not b.agent.busy and len(model.replies) == 2
        assert (await b.turn("/nothing")).reason == "done", "the next prompt is a loop of its own"


async def test_rounds_that_bring_nothing_are_noticed(tmp_path: Path) -> None:
    nothing = says(" ")
    model = ScriptedModel(says("Working."), *[nothing for _ in range(9)])
    async with bench(tmp_path, model, loop=quick(max_ralph_iterations=-1)) as b:
        b.tell(SendPrompt("make it green"))
        end = await ended(b)
        assert end.reason == "empty_rounds"
        assert "3 rounds in a row" in end.message


async def test_a_turn_that_fails_ends_the_loop_with_its_reason(tmp_path: Path) -> None:
    model = ScriptedModel(says("one"), [ModelFault("auth", "the key was refused")])
    async with bench(tmp_path, model) as b:
        b.tell(RunSlash("ralph", "go"))
        end = await ended(b)
        assert (end.reason, end.message) == ("stopped", "ralph stopped: the key was refused")


async def test_a_rejected_tool_ends_the_loop(tmp_path: Path) -> None:
    from kimi_tui.protocol.commands import AnswerApproval
    from kimi_tui.protocol.events import ApprovalRequested

    model = ScriptedModel(calls(("Asks", {})), says("never asked"))
    async with bench(tmp_path, model, tools=[Asks()]) as b:
        b.tell(RunSlash("ralph", "go"))
        asked = await b.until(ApprovalRequested)
        b.tell(AnswerApproval(asked.approval.request_id, "reject"))
        end = await ended(b)
        assert (end.reason, end.message) == ("stopped", "ralph stopped: you rejected a tool")


async def test_a_cap_that_cannot_be_kept_is_said_once(tmp_path: Path) -> None:
    model = ScriptedModel(says("begun"), *[says("<choice>CONTINUE</choice>")] * 2)
    async with bench(tmp_path, model, loop=quick(max_ralph_iterations=2, max_ralph_cost=1.0)) as b:
        b.tell(SendPrompt("go"))
        assert (await ended(b)).reason == "max_moves"
        assert [event.text for event in b.all(Noticed)] == [
            "No price is known for scripted: the cap of $1 cannot be kept; it ends after 3 rounds at the latest, "
            "Esc stops it."
        ]


async def test_a_loop_ends_when_it_has_cost_enough(tmp_path: Path) -> None:
    from kimi_tui.llm.model import Finish, TextPiece, Usage

    dear = [TextPiece("<choice>CONTINUE</choice>"), Usage(90, 10, cost=0.4), Finish("stop")]
    model = ScriptedModel(*[dear for _ in range(9)])
    async with bench(tmp_path, model, loop=quick(max_ralph_iterations=-1, max_ralph_cost=1.0)) as b:
        b.tell(SendPrompt("go"))
        end = await ended(b)
        assert (end.reason, end.iterations, end.tokens) == ("max_cost", 3, 300)
        assert end.cost == pytest.approx(1.2)


async def test_a_steer_joins_the_round_that_runs(tmp_path: Path) -> None:
    wait = Wait()
    model = ScriptedModel(calls(("Wait", {})), says("<choice>CONTINUE</choice>"), says("<choice>STOP</choice>"))
    async with bench(tmp_path, model, tools=[wait]) as b:
        b.tell(RunSlash("ralph", "go"))
        await wait.begun.wait()
        b.tell(Steer("and mind the gap"))
        await asyncio.sleep(0)
        wait.go.set()
        assert (await ended(b)).reason == "done"
        assert b.last(SteerTaken).entry.text == "and mind the gap"


async def test_ralph_without_a_prompt_comes_back_with_a_word(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as b:
        await b.do(RunSlash("ralph", ""))
        assert b.last(PromptReturned).text == "/ralph"
        assert not b.all(TurnStarted)


@pytest.mark.parametrize(
    "text",
    [
        "<choice> stop </choice>",
        "<choice>Stop.</choice>",
        "＜choice＞STOP＜/choice＞",
        "<CHOICE>STOP</CHOICE>",
        "<choice><b>STOP</b></choice>",
    ],
)
async def test_a_choice_that_is_written_carelessly_counts(tmp_path: Path, text: str) -> None:
    async with bench(tmp_path, ScriptedModel(says("task"), says(text))) as b:
        b.tell(RunSlash("ralph", "x"))
        assert (await ended(b)).reason == "done"


async def test_each_near_miss_gets_one_short_question_and_there_is_a_cap(tmp_path: Path) -> None:
    model = ScriptedModel(says("task"), *[says("maybe") for _ in range(9)])
    async with bench(tmp_path, model) as b:
        b.tell(RunSlash("ralph", "x"))
        end = await ended(b)
        assert end.reason == "no_choice"
        assert "CONTINUE, STOP" in end.message
        assert [move.asks for move in b.all(FlowMoved)] == [0, 0, 1, 2, 3]
        assert len(model.requests) == 5
        assert len(b.all(TurnStarted)[-1].entry.text) < 300
        assert names(b)[-1] == "ralph 2, asked again"


FLOW = """---
name: release
description: Ships it
type: flow
---
```mermaid
flowchart TD
A([BEGIN]) --> B[Run the tests]
B --> C{好吗?}
C -->|是| D([END])
C -->|否| B
```
"""


def put_skill(folder: Path, name: str, text: str) -> Path:
    file = folder / ".kimi" / "skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


async def test_a_flow_of_the_users_is_walked_by_the_choices_of_the_model(tmp_path: Path) -> None:
    put_skill(tmp_path, "release", FLOW)
    model = ScriptedModel(
        says("red"), says("<choice>否</choice>"), says("green"), says("<choice>否</choice> … <choice>是</choice>")
    )
    async with bench(tmp_path, model, skills=True) as b:
        b.tell(RunSlash("flow:release", "v1.2"))
        end = await ended(b)
        assert (end.flow, end.reason, end.iterations) == ("release", "done", 4)
        assert [(move.label, move.kind, move.visits, move.choices) for move in b.all(FlowMoved)] == [
            ("Run the tests", "task", 1, ()),
            ("好吗?", "decision", 1, ("是", "否")),
            ("Run the tests", "task", 2, ()),
            ("好吗?", "decision", 2, ("是", "否")),
        ]
        assert names(b) == [
            "release: Run the tests",
            "release: 好吗?",
            "release: Run the tests (2)",
            "release: 好吗? (2)",
        ]
        assert model.sent(0)[-1] == "user: Run the tests\n\nv1.2"
        assert b.all(TurnStarted)[0].entry.text == "/flow:release v1.2"


@pytest.mark.parametrize("name", ["flow-release", "flow:release"])
async def test_a_model_that_never_chooses_is_asked_a_few_times_and_then_stopped(tmp_path: Path, name: str) -> None:
    put_skill(tmp_path, "release", FLOW)
    async with bench(tmp_path, ScriptedModel(*[says("maybe") for _ in range(20)]), skills=True) as b:
        b.tell(RunSlash(name))
        end = await ended(b)
        assert end.reason == "no_choice"
        assert "是, 否" in end.message and "4 times" in end.message


async def test_a_flow_of_four_hundred_steps_runs_to_its_end(tmp_path: Path) -> None:
    steps = "\n".join(f"n{i}[step {i} 树] --> n{i + 1}" for i in range(400))
    put_skill(
        tmp_path,
        "long",
        FLOW.replace("release", "long").split("A([")[0] + f"B([BEGIN]) --> n0\n{steps}\nn400 --> E([END])\n```\n",
    )
    async with bench(tmp_path, ScriptedModel(*[says("ok", tokens=None) for _ in range(401)]), skills=True) as b:
        b.tell(RunSlash("flow:long"))
        async with asyncio.timeout(60):
            while not b.all(FlowEnded):
                await asyncio.sleep(0.01)
        assert (b.last(FlowEnded).reason, b.last(FlowEnded).iterations) == ("done", 401)


async def test_an_unknown_flow_comes_back_with_a_word(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as b:
        await b.do(RunSlash("flow:nothing", "x"))
        assert (b.last(PromptReturned).text, b.last(PromptReturned).reason) == (
            "/flow:nothing x",
            "there is no /flow:nothing",
        )
