"""A context of which nobody says what model it talks to learns from the reports in its own log."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.context import CheckpointRef, Context, Message, ThinkPart, estimate_text_tokens
from tests.context.scenarios import assistant, user
from tests.context.texts import COUNTS, TEXTS

MODELS = sorted(COUNTS)


async def opened(folder: Path) -> Context:
    context = Context(folder / "context.jsonl")
    await context.restore()
    return context


async def reported(folder: Path, kind: str, model: str, times: int = 4) -> Context:
    """A context whose only report is of a text of that kind."""
    context = await opened(folder)
    await context.append_message(user(TEXTS[kind] * times))
    await context.update_token_count(COUNTS[model][kind] * times)
    return context


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", sorted(TEXTS))
async def test_one_report_is_enough_for_text_of_the_same_kind(tmp_path: Path, model: str, kind: str) -> None:
    context = await reported(tmp_path, kind, model)
    await context.append_message(user(TEXTS[kind]))
    assert context.token_count_with_pending - context.token_count == pytest.approx(COUNTS[model][kind], rel=0.06)


async def test_the_counts_are_the_same_after_a_restart(tmp_path: Path) -> None:
    context = await reported(tmp_path, "chinese", "cl100k")
    await context.append_message(user(TEXTS["chinese"]))
    counted = context.token_count_with_pending
    await context.close()
    again = await opened(tmp_path)
    assert again.token_count_with_pending == counted


async def test_going_back_forgets_what_later_reports_taught(tmp_path: Path) -> None:
    context = await reported(tmp_path, "chinese", "cl100k")
    await context.append_message(user(TEXTS["chinese"]))
    before = context.token_count_with_pending
    await context.checkpoint(False)
    await context.commit(messages=[assistant(TEXTS["chinese"] * 4)], usage=context.token_count + 5 * 98)
    assert context.calibration and context.estimate([user(TEXTS["chinese"])]) == pytest.approx(98, rel=0.1)
    await context.rewrite("revert", keep_until=CheckpointRef(0))
    assert context.token_count_with_pending == before
    await context.close()
    again = await opened(tmp_path)
    assert again.token_count_with_pending == before


async def test_a_report_that_looks_the_same_after_going_back_teaches_what_it_is_of(tmp_path: Path) -> None:
    context = await opened(tmp_path)
    await context.checkpoint(False)
    for kind in ("english", "chinese"):
        await context.append_message(user(TEXTS[kind] * 4))
        await context.update_token_count(COUNTS["claude"]["english"] * 4)
        assert context.calibration
        known = context.calibration.state
        if kind == "english":
            await context.revert_to(0)
            await context.checkpoint(False)
    await context.close()
    again = await opened(tmp_path)
    assert again.calibration and again.calibration.state == known


async def test_what_a_jump_leaves_is_told_as_it_will_be_counted(tmp_path: Path) -> None:
    context = await reported(tmp_path, "chinese", "cl100k")
    await context.append_message(user(TEXTS["chinese"]))
    await context.checkpoint(False)
    await context.commit(messages=[assistant(TEXTS["chinese"] * 4)], usage=context.token_count + 5 * 98)
    switch = await context.rewrite("revert", keep_until=CheckpointRef(0), messages=[user(TEXTS["chinese"])])
    assert switch.tokens[1] == context.token_count_with_pending
    await context.close()
    again = await opened(tmp_path)
    assert again.token_count_with_pending == switch.tokens[1]


async def test_a_big_file_opened_by_its_index_knows_the_same_reports(tmp_path: Path) -> None:
    context = await reported(tmp_path, "chinese", "claude", times=2000)
    await context.append_message(user(TEXTS["chinese"]))
    counted = context.token_count_with_pending
    await context.close()
    for _ in range(2):  # the first one writes the index, the second one uses it
        context = await opened(tmp_path)
        assert context.token_count_with_pending == counted
        await context.close()
    assert (tmp_path / "context.idx").exists()


async def test_a_report_that_counts_tools_too_teaches_nothing(tmp_path: Path) -> None:
    context = await opened(tmp_path)
    await context.append_message(user(TEXTS["english"] * 4))
    await context.update_token_count(COUNTS["claude"]["english"] * 4 + 5000)
    assert context.calibration is None
    await context.append_message(user(TEXTS["english"]))
    assert context.token_count_with_pending - context.token_count == estimate_text_tokens([user(TEXTS["english"])])


async def test_what_was_thought_teaches_nothing(tmp_path: Path) -> None:
    context = await opened(tmp_path)
    await context.append_message(
        Message(role="assistant", content=[ThinkPart(think="hm"), *user(TEXTS["chinese"] * 4).content])
    )
    await context.update_token_count(COUNTS["cl100k"]["chinese"] * 4)
    assert context.calibration is None


async def test_the_system_prompt_counts_in_the_first_report(tmp_path: Path) -> None:
    context = await opened(tmp_path)
    await context.write_system_prompt(TEXTS["chinese"] * 3)
    await context.append_message(user(TEXTS["chinese"] * 3))
    await context.update_token_count(COUNTS["claude"]["chinese"] * 6)
    await context.append_message(user(TEXTS["chinese"]))
    assert context.token_count_with_pending - context.token_count == pytest.approx(
        COUNTS["claude"]["chinese"], rel=0.05
    )
