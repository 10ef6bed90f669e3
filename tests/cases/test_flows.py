"""Loops and graphs in the whole program: what ends them, what they leave on the timeline, and what a bad one hides."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.protocol.commands import Compact, Interrupt, RevertTo, RunSlash, Undo
from kimi_tui.protocol.events import FlowEnded, FlowMoved, SessionOpened, TranscriptReset, TurnStarted
from tests.cases import program
from tests.cases.house import House, house

ASKING = """flowchart TD
A([BEGIN]) --> B{好了吗?}
B -->|是| C([END])
B -->|否| D[再试]
D --> B
"""


def put_flow(work: Path, name: str, language: str, diagram: str) -> None:
    file = work / ".kimi" / "skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    head = f"---\nname: {name}\ndescription: Case {name}\ntype: flow\n---\n"
    file.write_text(f"{head}```{language}\n{diagram}\n```\n", encoding="utf-8")


async def walked(it: House, name: str, argument: str = "") -> FlowEnded:
    """The whole loop or flow."""
    before = len(it.events)
    it.tell(RunSlash(name, argument))
    ended = await it.until(FlowEnded, before)
    await it.idle()
    return ended


# --- C107: a loop that goes nowhere


@pytest.mark.parametrize(("limit", "rounds"), [("3", 3), ("1", 1)])
async def test_a_loop_keeps_to_the_number_of_its_rounds(tmp_path: Path, limit: str, rounds: int) -> None:
    async with house(tmp_path, [], script={"default": {"text": "going on <choice>CONTINUE</choice>"}}) as it:
        ended = await walked(it, "ralph", f"{limit} make it green")
        assert (ended.reason, ended.iterations) == ("max_moves", rounds)
        assert [move.iterations for move in it.seen(FlowMoved)] == list(range(1, rounds + 1))


async def test_rounds_without_a_word_end_the_loop_with_a_reason(tmp_path: Path) -> None:
    async with house(tmp_path, [{"text": "Working."}], script={"default": {"text": "  "}}) as it:
        ended = await walked(it, "ralph", "-1 make it green")
        assert (ended.reason, ended.iterations) == ("empty_rounds", 2)
        assert "rounds in a row brought no text and no call" in ended.message


def test_a_loop_in_print_mode_ends_with_a_reason_and_a_code(tmp_path: Path) -> None:
    model = program.script(tmp_path, {"text": "Working."}, *({"text": "nothing"} for _ in range(9)))
    ran = program.run("-m", model, "-p", "/ralph -1 make it green", cwd=tmp_path)
    assert ran.returncode == 1
    assert "asked 4 times for one of CONTINUE, STOP" in ran.stderr


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
async def test_escape_at_any_moment_ends_the_whole_loop(tmp_path: Path, rounds: int) -> None:
    """After so many rounds, in the middle of the next one."""
    replies: list[dict[str, Any]] = [{"text": "on <choice>CONTINUE</choice>"} for _ in range(rounds)]
    async with house(tmp_path, [*replies, {"text": "x" * 4000, "chunk": 1, "delay_ms": 50}]) as it:
        it.tell(RunSlash("ralph", "-1 go on"))
        async with asyncio.timeout(60):
            while len(it.model.requests) <= rounds:
                await asyncio.sleep(0.005)
        it.tell(Interrupt())
        ended = await it.until(FlowEnded)
        await it.idle()
        assert ended.reason == "stopped" and len(it.model.requests) == rounds + 1


# --- C109: answers that are almost a choice


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "<choice> stop </choice>"},
        {"text": "<choice>Stop.</choice>"},
        {"text": "\uff1cchoice\uff1eSTOP\uff1c/choice\uff1e"},
        {"text": "<CHOICE>STOP</CHOICE>"},
        {"text": "<choice><b>STOP</b></choice>"},
    ],
)
async def test_a_careless_choice_counts(tmp_path: Path, reply: dict[str, Any]) -> None:
    async with house(tmp_path, [{"text": "task"}, reply]) as it:
        assert (await walked(it, "ralph", "x")).reason == "done"
        assert len(it.model.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        {"think": "<choice>STOP</choice>", "text": "still thinking"},
        {"text": "I would stop here."},
        {"text": "<choice>PERHAPS</choice>"},
    ],
)
async def test_what_is_no_choice_is_asked_for_once_more_and_shortly(tmp_path: Path, reply: dict[str, Any]) -> None:
    async with house(tmp_path, [{"text": "task"}, reply, {"text": "<choice>STOP</choice>"}]) as it:
        assert (await walked(it, "ralph", "x" * 2000)).reason == "done"
        assert [move.asks for move in it.seen(FlowMoved)][-1] == 1
        assert len(it.seen(TurnStarted)[-1].entry.text) < 300


# --- C111: faulty graphs


FAULTY = {
    "two-begins": ("mermaid", "flowchart LR\nA([BEGIN]) --> C([END])\nB([BEGIN]) --> C", "one BEGIN node, found 2"),
    "no-end": ("mermaid", "flowchart LR\nA([BEGIN]) --> B\nB --> B2", "no END"),
    "cut-off": ("mermaid", "flowchart LR\nA([BEGIN]) --> B\nE([END]) --> B", "cannot be reached"),
    "same-labels": ("d2", "BEGIN -> q\nq -> a: go\nq -> END: go\na -> END", 'the label "go"'),
    "cut-short": ("mermaid", "flowchart LR\nA([BEGIN]) --> C([END", "Line 8"),
    "not-a-graph": ("mermaid", "sequenceDiagram\nA->>B: hi", "sequenceDiagram"),
    "open-block": ("d2", "BEGIN -> a -> END\na: |md\n never closed", "Line 8"),
}


async def test_each_fault_is_named_and_the_other_skills_live(tmp_path: Path) -> None:
    for name, (language, diagram, _) in FAULTY.items():
        put_flow(tmp_path / "work", name, language, diagram)
    put_flow(tmp_path / "work", "fine", "d2", "BEGIN -> a -> END\na: |md\n  - one -> no edge\n|")
    async with house(tmp_path, [{"text": "done"}]) as it:
        told = it.seen(SessionOpened)[0]
        for name, (_, _, fault) in FAULTY.items():
            assert any(f"/{name}/" in notice and fault in notice for notice in told.notices), name
        assert [command.name for command in told.commands if command.name.startswith("flow:")] == ["flow:fine"]
        assert (await walked(it, "flow:fine")).reason == "done"


def test_a_faulty_flow_in_print_mode_is_no_prompt(tmp_path: Path) -> None:
    put_flow(tmp_path, "bad", "mermaid", FAULTY["two-begins"][1])
    ran = program.run("-m", program.script(tmp_path), "-p", "/flow:bad now", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "/flow:bad cannot be used: there must be one BEGIN node, found 2" in ran.stderr


def test_a_long_flow_in_print_mode_runs_to_its_end(tmp_path: Path) -> None:
    steps = "\n".join(f"n{i} -> n{i + 1}" for i in range(60))
    put_flow(tmp_path, "long", "d2", f"BEGIN -> n0\n{steps}\nn60 -> END")
    ran = program.run("-m", program.script(tmp_path), "-p", "/flow-long", "--output-format", "json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["result"] == "ok"


# --- C112: a question that never gets an answer


def test_a_question_without_an_answer_stops_with_its_choices(tmp_path: Path) -> None:
    put_flow(tmp_path, "ask", "mermaid", ASKING)
    model = program.script(tmp_path, *({"text": "maybe"} for _ in range(20)))
    ran = program.run("-m", model, "-p", "/flow:ask", cwd=tmp_path)
    assert ran.returncode == 1
    assert "ask stopped at «好了吗?»: asked 4 times for one of 是, 否" in ran.stderr


async def test_a_chinese_choice_leads_on_and_each_visit_is_counted(tmp_path: Path) -> None:
    put_flow(tmp_path / "work", "ask", "mermaid", ASKING)
    replies = ["<choice>否</choice>", "试了", "我认为 <choice>「是」</choice>"]
    async with house(tmp_path, [{"text": text} for text in replies]) as it:
        assert (await walked(it, "flow:ask")).reason == "done"
        assert [(move.label, move.visits) for move in it.seen(FlowMoved)] == [
            ("好了吗?", 1),
            ("再试", 1),
            ("好了吗?", 2),
        ]


# --- time travel and compaction meet a loop


async def test_one_goes_back_into_the_middle_of_a_loop_and_forward_again(tmp_path: Path) -> None:
    replies = [{"text": "task"}, {"text": "b <choice>CONTINUE</choice>"}, {"text": "c <choice>STOP</choice>"}]
    async with house(tmp_path, [*replies, {"text": "after"}]) as it:
        assert (await walked(it, "ralph", "improve it")).reason == "done"
        whole = it.records()
        second = [record["id"] for record in whole if record["role"] == "_checkpoint"][2]
        await it.do(RevertTo(second))
        assert it.spoken("assistant") == ["task"]
        assert it.seen(TranscriptReset)[-1].timeline[-1].name.startswith("ralph 1")
        assert (await it.turn("by hand")).reason == "done"
        await it.do(Undo())
        await it.do(Undo())
        assert it.spoken("assistant") == ["task", "b <choice>CONTINUE</choice>", "c <choice>STOP</choice>"]


async def test_a_compaction_between_two_rounds_changes_nothing_for_the_loop(tmp_path: Path) -> None:
    replies = [
        {"text": "task " + "word " * 400, "delay_ms": 1},
        {"text": "summary of it", "when": "compaction"},
        {"text": "b <choice>CONTINUE</choice>"},
        {"text": "c <choice>STOP</choice>"},
    ]
    async with house(tmp_path, replies) as it:
        it.tell(RunSlash("ralph", "improve it"))
        await it.until(TurnStarted)
        it.tell(Compact())
        ended = await it.until(FlowEnded)
        await it.idle()
        assert (ended.reason, ended.iterations) == ("done", 3)
