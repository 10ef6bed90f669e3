"""The memory as the agent uses it: appended to, checkpointed, rewound, folded, and the same after a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.context import Calibration, CheckpointRef, Context, Message, TextPart, ThinkPart, estimate_text_tokens


def user(text: str) -> Message:
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    return Message(role="assistant", content=text)


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "context.jsonl"


async def reopened(context: Context) -> Context:
    await context.close()
    fresh = Context(context.file_backend)
    await fresh.restore()
    return fresh


def told(context: Context) -> tuple[object, ...]:
    """All that a context says of itself."""
    return (
        list(context.history),
        context.token_count,
        context.token_count_with_pending,
        context.n_checkpoints,
        context.system_prompt,
        [(mark.id, mark.offset, mark.lines, mark.history_index, mark.tokens) for mark in context.checkpoints],
    )


async def a_session(path: Path) -> Context:
    """A prompt, then three steps with a checkpoint, a question, an answer and its cost each."""
    context = Context(path)
    await context.restore()
    await context.write_system_prompt("You help.")
    for number in range(3):
        await context.checkpoint(add_user_message=False)
        await context.append_message(user(f"question {number}"))
        await context.commit(messages=[assistant(f"answer {number}")], usage=100 * (number + 1))
    return context


async def test_every_record_is_written_as_one_line_in_the_shared_format(path: Path) -> None:
    context = Context(path)
    await context.write_system_prompt("Be é.")
    await context.checkpoint(add_user_message=True)
    await context.append_message([user("hi"), Message(role="assistant", content=[ThinkPart(think="t")])])
    await context.update_token_count(42)
    assert path.read_bytes().splitlines() == [
        b'{"role": "_system_prompt", "content": "Be \\u00e9."}',
        b'{"role": "_checkpoint", "id": 0}',
        b'{"role":"user","content":"<system>CHECKPOINT 0</system>"}',
        b'{"role":"user","content":"hi"}',
        b'{"role":"assistant","content":[{"type":"think","think":"t","encrypted":null}]}',
        b'{"role": "_usage", "token_count": 42}',
    ]


async def test_a_restart_changes_nothing(path: Path) -> None:
    context = await a_session(path)
    await context.append_message(user("pending"))
    before = told(context)
    assert told(await reopened(context)) == before


async def test_restore_of_nothing_says_so(path: Path) -> None:
    context = Context(path)
    assert not await context.restore()
    assert (list(context.history), context.n_checkpoints) == ([], 0)


async def test_an_exact_count_replaces_the_estimate(path: Path) -> None:
    context = Context(path)
    await context.append_message(user("some words to count"))
    assert context.token_count_with_pending == estimate_text_tokens(context.history) > 0
    await context.update_token_count(7)
    assert (context.token_count, context.token_count_with_pending) == (7, 7)
    await context.append_message(user("more"))
    assert context.token_count_with_pending == 7 + estimate_text_tokens([user("more")])


async def test_revert_drops_the_checkpoint_and_everything_after_it(path: Path) -> None:
    context = await a_session(path)
    before = path.read_bytes()
    await context.revert_to(1)
    assert [message.text() for message in context.history] == ["question 0", "answer 0"]
    assert (context.n_checkpoints, context.token_count, context.system_prompt) == (1, 100, "You help.")
    assert path.with_name("context_1.jsonl").read_bytes() == before
    assert before.startswith(path.read_bytes())
    after = told(context)
    assert told(await reopened(context)) == after


async def test_revert_refuses_an_absent_checkpoint_before_touching_anything(path: Path) -> None:
    context = await a_session(path)
    before, names = path.read_bytes(), sorted(path.parent.iterdir())
    for absent in (3, -1, 99):
        with pytest.raises(ValueError, match="not in this timeline, which has 0 to 2"):
            await context.revert_to(absent)
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == (before, names)


async def test_clear_rotates_and_starts_empty_without_any_checkpoint(path: Path) -> None:
    context = Context(path)
    await context.append_message(user("old"))
    await context.clear()
    assert (list(context.history), path.read_bytes()) == ([], b"")
    assert b"old" in path.with_name("context_1.jsonl").read_bytes()


async def test_a_system_prompt_is_put_before_what_is_there(path: Path) -> None:
    path.write_text('{"role":"user","content":"first"}\n', encoding="utf-8")
    context = Context(path)
    await context.write_system_prompt("Late.")
    assert [record["role"] for record in records(path)] == ["_system_prompt", "user"]
    assert not path.with_name("context_1.jsonl").exists()


async def test_a_new_system_prompt_takes_the_old_ones_place(path: Path) -> None:
    context = await a_session(path)
    await context.write_system_prompt("Other.")
    assert [record["role"] for record in records(path)].count("_system_prompt") == 1
    expected = told(context)
    context = await reopened(context)
    assert told(context) == expected
    await context.revert_to(1)
    assert context.system_prompt == "Other."


async def test_a_dmail_is_one_switch_with_prefix_checkpoint_and_letter(path: Path) -> None:
    context = await a_session(path)
    switch = await context.rewrite(
        "dmail", keep_until=CheckpointRef(1), checkpoint=True, messages=[user("from the future")], note="letter"
    )
    assert [message.text() for message in context.history] == ["question 0", "answer 0", "from the future"]
    assert (switch.why, switch.file, switch.checkpoint, switch.messages) == ("dmail", "context_1.jsonl", 1, (6, 3))
    assert switch.tokens == (300, context.token_count_with_pending)
    assert context.n_checkpoints == 2
    expected = told(context)
    assert told(await reopened(context)) == expected


async def test_a_compaction_is_one_switch_with_prompt_checkpoint_summary_and_count(path: Path) -> None:
    context = await a_session(path)
    await context.rewrite(
        "compact", keep_until=None, system_prompt="P", checkpoint=True, messages=[user("summary")], usage=9
    )
    assert [record["role"] for record in records(path)] == ["_system_prompt", "_checkpoint", "user", "_usage"]
    assert context.token_count_with_pending == 9
    expected = told(context)
    assert told(await reopened(context)) == expected


async def test_undo_and_redo_walk_every_switch(path: Path) -> None:
    context = await a_session(path)
    states = [path.read_bytes()]
    await context.revert_to(2)
    states.append(path.read_bytes())
    await context.clear()
    states.append(path.read_bytes())
    for state in (states[1], states[0]):
        await context.undo()
        assert path.read_bytes() == state
    assert await context.undo() is None
    context = await reopened(context)
    for state in states[1:]:
        await context.redo()
        assert path.read_bytes() == state
    assert await context.redo() is None


async def test_parts_without_a_known_type_round_trip(path: Path) -> None:
    path.write_text('{"role":"user","content":[{"type":"hologram","data":[1]},{"type":"text","text":"x"}]}\n')
    context = Context(path)
    await context.restore()
    [message] = context.history
    assert message.content[1] == TextPart(text="x")
    assert json.loads(message.model_dump_json(exclude_none=True)) == records(path)[0]


async def test_a_guessed_count_teaches_the_estimates_nothing(tmp_path: Path) -> None:
    words = Message(role="assistant", content="a sentence of plain words. " * 200)
    for guessed, untouched in ((True, True), (False, False)):
        calibration = Calibration()
        context = Context(tmp_path / str(guessed) / "context.jsonl", calibration=calibration)
        await context.commit(messages=[words], usage=1000, guessed=guessed)
        await context.append_message(words)
        await context.commit(usage=1000 + 1100, guessed=guessed)
        assert (calibration.state == Calibration().state) is untouched
        await context.close()
