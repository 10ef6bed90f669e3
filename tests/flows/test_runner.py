"""Walking a flow with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from kimi_tui.flows import FlowOutcome, FlowProgress, FlowRunner, TurnResult, parse_mermaid_flowchart
from kimi_tui.protocol.messages import ContentPart, ImageURLPart, Message, TextPart

Prompt = str | list[ContentPart]


class Script:
    """Answers turn by turn; the last answer is repeated for ever."""

    def __init__(self, *answers: str | TurnResult) -> None:
        self.answers = [TurnResult(text) if isinstance(text, str) else text for text in answers]
        self.prompts: list[Prompt] = []
        self.labels: list[str] = []

    async def __call__(self, prompt: Prompt, *, label: str) -> TurnResult:
        self.prompts.append(prompt)
        self.labels.append(label)
        return self.answers[min(len(self.prompts), len(self.answers)) - 1]


def choose(label: str) -> str:
    return f"I looked. <choice>{label}</choice>"


LOOP = parse_mermaid_flowchart("BEGIN --> B[Do it] --> C{Enough?}\nC -->|yes| END\nC -->|no| B")
YES_NO = parse_mermaid_flowchart("BEGIN --> C{够了吗?}\nC -->|是| END\nC -->|否| C")


def moves(progress: Iterable[FlowProgress]) -> list[tuple[str, int, int, int, str | None]]:
    return [(at.node.id, at.visits, at.iterations, at.asks, at.choice) for at in progress]


async def test_a_flow_runs_its_tasks_and_follows_the_chosen_ways() -> None:
    script = Script("did", choose("no"), "did more", choose("yes"))
    seen: list[FlowProgress] = []
    outcome = await FlowRunner(LOOP, script, name="tidy", on_move=seen.append).run()
    assert outcome == FlowOutcome("done", "tidy reached its end", 4, 4, 0, None, {"BEGIN": 1, "B": 2, "C": 2, "END": 1})
    assert script.prompts[0] == script.prompts[2] == "Do it"
    assert script.labels == ["tidy: Do it", "tidy: Enough?", "tidy: Do it (2)", "tidy: Enough? (2)"]
    assert moves(seen) == [
        ("B", 1, 1, 0, None),
        ("C", 1, 2, 0, None),
        ("B", 2, 3, 0, "no"),
        ("C", 2, 4, 0, None),
        ("END", 1, 4, 0, "yes"),
    ]


async def test_a_question_lists_its_ways_out_and_says_how_to_answer() -> None:
    script = Script("did", choose("yes"))
    await FlowRunner(LOOP, script).run()
    question = script.prompts[1]
    assert isinstance(question, str)
    assert question.startswith("Enough?\n")
    assert "\n- yes\n- no\n" in question
    assert "<choice>yes</choice>" in question


async def test_an_invalid_choice_is_asked_for_again_shortly() -> None:
    script = Script("did", "hm", choose("maybe"), choose(" Yes. "))
    seen: list[FlowProgress] = []
    outcome = await FlowRunner(LOOP, script, on_move=seen.append).run()
    assert (outcome.end, outcome.turns, outcome.iterations) == ("done", 4, 2)
    assert [at.asks for at in seen] == [0, 0, 1, 2, 0]
    assert script.labels[2] == "flow: Enough?, asked again"
    assert script.prompts[2] == (
        "Your last answer holds no <choice>…</choice>, so it is not clear how to go on. "
        "Answer with nothing but one of these lines:\n<choice>yes</choice>\n<choice>no</choice>"
    )
    assert "chose «maybe», which is not offered" in str(script.prompts[3])


async def test_asking_again_has_a_cap_and_the_stop_says_why() -> None:
    script = Script("maybe", choose("maybe"))
    outcome = await FlowRunner(YES_NO, script).run()
    assert len(script.prompts) == 4
    assert (outcome.end, outcome.turns) == ("no_choice", 4)
    assert outcome.message == "flow stopped at «够了吗?»: asked 4 times for one of 是, 否, got «maybe»"


async def test_chinese_answers_are_understood() -> None:
    outcome = await FlowRunner(YES_NO, Script(choose("否"), choose("「是」。"))).run()
    assert (outcome.end, outcome.turns) == ("done", 2)


async def test_ten_thousand_moves_need_no_deep_stack() -> None:
    outcome = await FlowRunner(LOOP, Script(choose("no")), max_moves=12_001).run()
    assert (outcome.end, outcome.iterations, outcome.visits["B"]) == ("max_moves", 12_001, 6_001)
    assert outcome.message == "flow stopped after 12001 rounds, its limit"


async def test_a_long_chain_is_walked_to_its_end() -> None:
    chain = " --> ".join(["BEGIN", *(f"n{i}" for i in range(400)), "END"])
    outcome = await FlowRunner(parse_mermaid_flowchart(chain), Script("ok")).run()
    assert (outcome.end, outcome.turns) == ("done", 400)


async def test_rounds_without_text_and_calls_end_the_flow() -> None:
    script = Script("Working.", TurnResult())
    outcome = await FlowRunner.ralph_loop("make it green", -1).run(script)
    assert outcome.end == "empty_rounds"
    assert outcome.message == "ralph stopped: 3 rounds in a row brought no text and no call"
    assert len(script.prompts) == 4


async def test_a_round_that_only_called_tools_is_not_empty() -> None:
    flow = parse_mermaid_flowchart("BEGIN --> a --> b --> c --> d --> END")
    outcome = await FlowRunner(flow, Script(TurnResult(), TurnResult(), TurnResult(tool_calls=1), TurnResult())).run()
    assert outcome.end == "done"


async def test_an_interrupted_turn_ends_the_whole_flow() -> None:
    script = Script("did", TurnResult(choose("no"), stopped="interrupted"))
    outcome = await FlowRunner(LOOP, script).run()
    assert (outcome.end, outcome.message, outcome.turns) == ("stopped", "flow stopped: interrupted", 2)


async def test_cancelling_ends_the_whole_flow() -> None:
    started = asyncio.Event()

    async def hang(prompt: Prompt, *, label: str) -> TurnResult:
        started.set()
        await asyncio.Event().wait()
        return TurnResult()

    task = asyncio.create_task(FlowRunner(LOOP, hang).run())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_flow_that_is_told_to_stop_gives_no_further_turn() -> None:
    script = Script("did")
    runner = FlowRunner(LOOP, script, on_move=lambda at: runner.stop("told to"))
    outcome = await runner.run()
    assert (outcome.end, outcome.message, script.labels) == ("stopped", "flow stopped: told to", ["flow: Do it"])


async def test_tokens_and_cost_add_up_and_the_cost_has_a_cap() -> None:
    script = Script(TurnResult(choose("CONTINUE"), tokens=100, cost=0.25))
    seen: list[FlowProgress] = []
    outcome = await FlowRunner.ralph_loop("spend", -1, script, max_cost=1.0, on_move=seen.append).run()
    assert [(at.tokens, at.cost) for at in seen] == [(0, None), (100, 0.25), (200, 0.5), (300, 0.75), (400, 1.0)]
    assert (outcome.end, outcome.tokens, outcome.cost) == ("max_cost", 400, 1.0)
    assert outcome.message == "ralph stopped: it has cost 1.00 of 1.00"


async def test_a_node_without_a_way_out_stops_the_flow_with_its_name() -> None:
    flow = parse_mermaid_flowchart("BEGIN --> C{Where?}\nC -->|out| END\nC -->|wall| W[A wall]")
    outcome = await FlowRunner(flow, Script(choose("wall"))).run()
    assert (outcome.end, outcome.message) == ("dead_end", "no way leads on from «A wall»")


async def test_a_fork_right_at_the_beginning_is_a_question() -> None:
    flow = parse_mermaid_flowchart("BEGIN -->|short| END\nBEGIN -->|long| a --> END")
    script = Script(choose("long"), "ok")
    assert (await FlowRunner(flow, script).run()).visits == {"BEGIN": 1, "a": 1, "END": 1}


async def test_a_runner_can_walk_twice() -> None:
    runner = FlowRunner(LOOP)
    for _ in range(2):
        assert (await runner.run(Script("did", choose("yes")))).turns == 2


async def test_a_flow_without_anything_to_run_its_turns_is_refused() -> None:
    with pytest.raises(ValueError, match="something that runs its turns"):
        await FlowRunner(LOOP).run()


def test_the_ralph_loop_is_a_flow_of_four_nodes() -> None:
    flow = FlowRunner.ralph_loop("fix the bug", 2).flow
    assert {node.id: node.kind for node in flow.nodes.values()} == {
        "BEGIN": "begin",
        "END": "end",
        "R1": "task",
        "R2": "decision",
    }
    ways = [(edge.src, edge.dst, edge.label) for edges in flow.outgoing.values() for edge in edges]
    assert ways == [("BEGIN", "R1", None), ("R1", "R2", None), ("R2", "R2", "CONTINUE"), ("R2", "END", "STOP")]
    assert flow.nodes["R1"].label == "fix the bug"


async def test_the_ralph_loop_repeats_the_task_until_it_is_told_to_stop() -> None:
    script = Script("started", choose("CONTINUE"), choose("STOP"))
    outcome = await FlowRunner.ralph_loop("cost: $5 and ${x}", -1).run(script)
    assert (outcome.end, outcome.turns) == ("done", 3)
    assert script.labels == ["ralph 1", "ralph 2", "ralph 3"]
    assert script.prompts[0] == "cost: $5 and ${x}"
    assert all(str(prompt).startswith("cost: $5 and ${x}\n") for prompt in script.prompts[1:])
    assert "- STOP ends the loop" in str(script.prompts[1])


@pytest.mark.parametrize(("limit", "turns"), [(0, 1), (1, 2), (5, 6)])
async def test_the_ralph_loop_keeps_its_limit(limit: int, turns: int) -> None:
    script = Script(choose("CONTINUE"))
    outcome = await FlowRunner.ralph_loop("again", limit).run(script)
    assert (outcome.end, len(script.prompts)) == ("max_moves", turns)


async def test_the_ralph_loop_hands_on_images_once() -> None:
    image = ImageURLPart.model_validate({"image_url": {"url": "data:image/png;base64,xx"}})
    message = Message(role="user", content=[TextPart(text="Draw this"), image])
    script = Script(choose("STOP"))
    await FlowRunner.ralph_loop(message, 3).run(script)
    assert script.prompts[0] == [TextPart(text="Draw this"), image]
    assert str(script.prompts[1]).startswith("Draw this\n")


async def test_a_message_of_plain_text_is_handed_on_as_text() -> None:
    script = Script(choose("STOP"))
    await FlowRunner.ralph_loop(Message(role="user", content="hi"), 3).run(script)
    assert script.prompts[0] == "hi"


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        ("<choice> stop </choice>", 2),
        ("<choice>Stop.</choice>", 2),
        ("＜choice＞STOP＜/choice＞", 2),
        ("<choice><b>STOP</b></choice>", 2),
        ("still thinking", 5),
    ],
)
async def test_near_misses_are_forgiven_and_silence_is_capped(answer: str, turns: int) -> None:
    outcome = await FlowRunner.ralph_loop("x", -1).run(Script("task", answer))
    assert outcome.turns == turns
