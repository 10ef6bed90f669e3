"""Sessions as crashes, other programs and other models leave them: what is sent is right whatever the file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kimi_tui.llm.provider import Dialect
from kimi_tui.protocol.commands import Compact, RevertTo
from kimi_tui.protocol.events import CompactionEnded, TranscriptReset
from tests.cases.house import Record, assistant, calls, checkpoint, house, result, usage, user

START: list[Record] = [
    {"role": "_system_prompt", "content": "You work in /srv/garden."},
    checkpoint(0),
    user("which beds are dry?"),
    assistant("I look.", ("w1", "Grep", {"pattern": "dry"})),
    result("w1", "bed 3"),
    usage(900),
    checkpoint(1),
    user("water them"),
]

LEFT_BEHIND: dict[str, list[Record]] = {
    "a call without its result": [assistant("On it.", ("w2", "Shell", {"command": "water 3"}), think="the hose")],
    "a call without its result, then a prompt": [assistant("", ("w2", "Shell", "{}")), checkpoint(2), user("well?")],
    "of three parallel calls the middle one": [
        assistant("", ("a", "ReadFile", {"path": "1"}), ("b", "ReadFile", {"path": "2"}), ("c", "ReadFile", "{}")),
        result("a", "one"),
        result("c", "three"),
    ],
    "results in another order": [
        assistant("", ("a", "ReadFile", "{}"), ("b", "ReadFile", "{}")),
        result("b", "second"),
        result("a", "first"),
    ],
    "an empty answer": [assistant(""), user("hello?")],
    "nothing but a thought": [assistant(think="hm"), user("hello?"), assistant(think="")],
    "a result that nobody asked for": [result("zz", "lost"), assistant("done")],
    "records written twice": [
        *[assistant("", ("d", "Shell", "{}"))] * 2,
        *[result("d", "out")] * 2,
    ],
    "ids that repeat or are empty": [
        assistant("", ("w1", "Shell", '{"command": "again"}')),
        result("w1", "again"),
        assistant("", ("", "Shell", "{}"), ("", "Shell", '{"command": "x"}')),
        result("", "first"),
        result("", "second"),
    ],
    "arguments that are no object": [
        assistant("", ("e", "Shell", "[1]"), ("f", "Shell", "nonsense"), ("g", "Think", "")),
        *(result(name, "bad") for name in "efg"),
    ],
    "half a letter": [assistant("byte \ud800 here", ("h", "Shell", '{"command": "\\ud800"}')), result("h", "\udfff")],
}


@pytest.mark.parametrize("left", LEFT_BEHIND)
async def test_a_strict_backend_takes_what_is_sent_before_and_after_a_compaction(left: str, tmp_path: Path) -> None:
    async with house(tmp_path, [], session=[*START, *LEFT_BEHIND[left]], script={"default": {"text": "ok"}}) as it:
        assert (await it.turn("go on")).reason == "done"
        assert (await it.turn("and on")).reason == "done"
        await it.do(Compact())
        assert it.seen(CompactionEnded)[-1].outcome == "done"
        assert (await it.turn("after it")).reason == "done"


@pytest.mark.parametrize("left", ["a call without its result", "of three parallel calls the middle one"])
async def test_after_going_back_too(left: str, tmp_path: Path) -> None:
    session = [*START, *LEFT_BEHIND[left], checkpoint(2), user("late")]
    async with house(tmp_path, [{"text": "ok"}, {"text": "ok"}], session=session) as it:
        await it.do(RevertTo(2))
        assert (await it.turn("instead")).reason == "done"
        await it.do(RevertTo(1))
        assert (await it.turn("from before")).reason == "done"
        assert "late" not in it.sent() and "On it." not in it.sent()


async def test_a_lost_result_is_told_as_interrupted_and_healed_on_disk_once(tmp_path: Path) -> None:
    session = [*START, *LEFT_BEHIND["a call without its result"]]
    async with house(tmp_path, [{"text": "ok"}], session=session) as it:
        await it.turn("continue")
        assert "Interrupted" in it.sent().split("tool w2: ")[1]
    async with house(tmp_path, [{"text": "ok"}]) as it:
        await it.turn("again")
        assert [record["tool_call_id"] for record in it.records() if record["role"] == "tool"] == ["w1", "w2"]


async def test_the_missing_one_of_several_results_stands_in_the_order_of_the_calls(tmp_path: Path) -> None:
    session = [*START, *LEFT_BEHIND["of three parallel calls the middle one"], checkpoint(2), user("next")]
    async with house(tmp_path, [{"text": "ok"}], session=session) as it:
        await it.turn("continue")
        told = [line.partition(": ") for line in it.sent().splitlines() if line.startswith("tool")]
        assert [(who, what.partition("\n")[0]) for who, _, what in told][1::2] == [
            ("tool a", "one"),
            ("tool c", "three"),
        ]
        assert told[2][0] == "tool b" and "interrupted" in told[2][2]


async def test_a_result_belongs_to_the_nearest_call_of_its_id(tmp_path: Path) -> None:
    session = [*START, *LEFT_BEHIND["ids that repeat or are empty"]]
    async with house(tmp_path, [{"text": "ok"}], session=session) as it:
        await it.turn("continue")
        results = [message["content"] for message in it.model.requests[-1] if message["role"] == "tool"]
        assert [text.splitlines()[0] for text in results] == ["bed 3", "again", "first", "second"]


async def test_the_cards_of_calls_that_share_an_id_show_their_own_output(tmp_path: Path) -> None:
    session = [*START, *LEFT_BEHIND["ids that repeat or are empty"]]
    async with house(tmp_path, [], session=session) as it:
        cards = [entry.tool for entry in it.seen(TranscriptReset)[-1].entries if entry.tool]
        assert [card.output for card in cards] == ["bed 3", "again", "first", "second"]


@pytest.mark.parametrize("reasoning", [True, False])
async def test_a_thought_comes_back_with_its_call_or_not_at_all(reasoning: bool, tmp_path: Path) -> None:
    session = [
        *START,
        assistant("", ("x", "Shell", "{}"), think="first look"),
        result("x", "1"),
        assistant("", ("y", "Shell", "{}")),
        result("y", "2"),
        assistant("", ("z", "Shell", "{}"), think=""),
        result("z", "3"),
    ]
    dialect = Dialect(reasoning=reasoning, reasoning_settled=reasoning)
    async with house(tmp_path, [{"text": "ok"}], session=session, dialect=dialect) as it:
        await it.turn("continue")
        asked: list[dict[str, Any]] = [m for m in it.model.requests[-1] if m.get("tool_calls")]
        assert [bool(message.get("reasoning_content")) for message in asked] == [reasoning] * 4
        assert not any(message.get("content") == "" for message in asked)


async def test_raw_bytes_of_a_tool_become_marks_and_stay_whole_lines(tmp_path: Path) -> None:
    command = r"printf 'a\000b\377\034c\n'"
    async with house(tmp_path, [calls(("Shell", {"command": command})), {"text": "seen"}, {"text": "ok"}]) as it:
        await it.turn("dump")
        await it.turn("again")
        assert "a␀b\\xff␜c" in it.sent()
        assert len(it.records()) == (it.folder / "context.jsonl").read_bytes().count(b"\n")
