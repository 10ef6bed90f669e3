"""Bar, trigger and breakdown read one reckoning, and it learns from what the model reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_tui.agent.compaction.compact import over_limit
from kimi_tui.context import Calibration, Learned, estimate_text_tokens
from kimi_tui.context.tokens import text_cost
from kimi_tui.llm.provider import tools_to_provider
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol.commands import MeasureContext, SwitchModel
from kimi_tui.protocol.events import ContextMeasured, TokensChanged
from tests.agent.fakes import Bench, Echo, ScriptedModel, bench, calls, message, quick, says
from tests.agent.test_bootstrap import play, script
from tests.context.texts import TEXTS

CHINESE = TEXTS["chinese"] * 4
WIDE = round(estimate_text_tokens([message("user", CHINESE)]) * 0.7)
"""What a model with a good Chinese vocabulary makes of it."""


def learning(folder: Path) -> ScriptedModel:
    """Reads and repeats Chinese, then says how many tokens that was."""
    first = calls(("Echo", {"text": "x"}), tokens=3000)
    second = calls(("Echo", {"text": CHINESE, "id": "c9"}), tokens=3000 + WIDE)
    return ScriptedModel(first, second, says("fertig", 3000 + 2 * WIDE))


async def measured(it: Bench) -> ContextMeasured:
    await it.do(MeasureContext())
    return it.last(ContextMeasured)


async def test_the_bar_the_trigger_and_the_breakdown_agree_with_what_was_learned(tmp_path: Path) -> None:
    learned = Learned(tmp_path / "calibration.json")
    async with bench(tmp_path, learning(tmp_path), tools=[Echo()], learned=learned) as it:
        await it.turn("one")
        known = learned.of("scripted")
        assert known.tokens(text_cost(CHINESE)) == pytest.approx(WIDE, rel=0.05)
        pending = message("user", CHINESE)
        await it.desk.context.append_message(pending)
        it.desk.tell_tokens()
        expected = 3000 + 2 * WIDE + estimate_text_tokens([pending], known)
        found = await measured(it)
        told, parts = it.last(TokensChanged).tokens, sum(share.tokens for share in found.shares)
        assert [it.desk.total, told.total, found.tokens.total, parts] == [expected] * 4
        assert told.pending == estimate_text_tokens([pending], known) < estimate_text_tokens([pending])


@pytest.mark.parametrize(("room", "due"), [(0, True), (1, False)])
async def test_the_trigger_fires_at_the_very_token_that_the_bar_shows(tmp_path: Path, room: int, due: bool) -> None:
    learned = Learned()
    learned.of("scripted").learn(text_cost(CHINESE), WIDE)
    async with bench(tmp_path, ScriptedModel(window=100_000), learned=learned, loop=quick()) as it:
        limit = it.desk.tokens().trigger
        pending = message("user", CHINESE)
        await it.desk.context.commit(usage=limit - it.desk.context.estimate([pending]) - room)
        await it.desk.context.append_message(pending)
        assert over_limit(it.desk) is due is (it.desk.tokens().total >= limit)


async def test_before_the_first_report_the_system_prompt_and_the_tools_count(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("so", None)), tools=[Echo()]) as it:
        await it.turn(CHINESE)
        history = it.desk.context.estimate(it.desk.context.history)
        found = await measured(it)
        by_name = {share.category: share.tokens for share in found.shares}
        assert found.tokens.total == sum(by_name.values()) == history + it.desk.overhead()
        assert (found.tokens.exact, found.tokens.pending) == (0, history + it.desk.overhead())
        assert by_name["system"] > 0 < by_name["tools"]


async def test_a_tool_counts_as_the_text_that_is_sent_of_it(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("so", None)), tools=[Echo()]) as it:
        await it.turn("one")
        [tool] = it.desk.toolset.specs()
        assert [json.loads(tool.counted)] == tools_to_provider([tool])
        [share] = [share for share in (await measured(it)).shares if share.category == "tools"]
        assert share.tokens == pytest.approx(it.desk.context.estimate([message("user", tool.counted)]), abs=2), (
            "rounded"
        )


async def test_another_model_is_reckoned_by_what_is_known_of_it(tmp_path: Path) -> None:
    learned = Learned()
    learned.of("scripted").learn(text_cost(CHINESE), WIDE)
    async with bench(tmp_path, ScriptedModel(says("so", None)), learned=learned) as it:
        other = ScriptedModel()
        other._view = type(other.view)("other", window=100_000)
        it.agent.opener.models["other"] = other  # type: ignore[attr-defined]
        await it.turn(CHINESE)
        before = it.desk.tokens().total
        await it.do(SwitchModel("other"))
        assert it.desk.context.calibration is learned.of("other")
        assert it.last(TokensChanged).tokens.total == it.desk.total > before


async def test_what_was_learned_is_written_when_the_turn_ends(tmp_path: Path) -> None:
    learned = Learned(tmp_path / "calibration.json")
    async with bench(tmp_path, learning(tmp_path), tools=[Echo()], learned=learned) as it:
        await it.turn("one")
        again = Learned(tmp_path / "calibration.json").of("scripted")
        assert again.state == learned.of("scripted").state != Calibration().state


async def test_the_next_session_starts_with_what_this_one_learned(tmp_path: Path, home: Path) -> None:
    text = CHINESE * 3
    replies = [
        {"text": "so", "usage": {"prompt_tokens": 2990, "completion_tokens": 10}},
        {"text": text, "usage": {"prompt_tokens": 3000, "completion_tokens": 3 * WIDE}},
    ]
    model = script(tmp_path, *replies)
    await play(LaunchOptions(work_dir=tmp_path, model=model, yolo=True), "one", "two")
    kept = json.loads((home / "calibration.json").read_text())
    assert list(kept) == [model] and tuple(kept[model]) != Calibration.for_model(model).state
