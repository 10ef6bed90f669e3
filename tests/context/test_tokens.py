"""Estimates are near what tokenizers say, and nearer once a model has reported."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kimi_tui.context import (
    Calibration,
    CheckpointRef,
    Context,
    ImageURLPart,
    Message,
    TextPart,
    ThinkPart,
    ToolCall,
    estimate_text_tokens,
    estimate_tokens,
    should_auto_compact,
)
from kimi_tui.context.calibration import Cost
from kimi_tui.context.tokens import message_cost, text_cost
from tests.context.scenarios import assistant, user
from tests.context.texts import COUNTS, TEXTS

MODELS = sorted(COUNTS)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["english", "code", "json"])
def test_latin_text_is_estimated_within_an_eighth_of_any_tokenizer(model: str, kind: str) -> None:
    assert estimate_tokens(TEXTS[kind]) == pytest.approx(COUNTS[model][kind], rel=0.125)


@pytest.mark.parametrize("model", MODELS)
def test_one_report_teaches_how_a_model_counts_chinese(model: str) -> None:
    calibration = Calibration()
    calibration.learn(text_cost(TEXTS["chinese"] * 3), COUNTS[model]["chinese"] * 3)
    assert estimate_tokens(TEXTS["chinese"], calibration) == pytest.approx(COUNTS[model]["chinese"], rel=0.06)
    assert estimate_tokens(TEXTS["english"], calibration) == pytest.approx(COUNTS[model]["english"], rel=0.1)


@pytest.mark.parametrize("model", MODELS)
def test_a_report_of_mixed_text_brings_every_kind_within_a_seventh(model: str) -> None:
    calibration = Calibration()
    mixed = "\n".join(TEXTS.values())
    calibration.learn(text_cost(mixed), sum(COUNTS[model].values()))
    calibration.learn(text_cost(TEXTS["chinese"] * 2), COUNTS[model]["chinese"] * 2)
    for kind, text in TEXTS.items():
        assert estimate_tokens(text, calibration) == pytest.approx(COUNTS[model][kind], rel=0.15), kind


def test_a_report_that_counts_something_else_teaches_nothing() -> None:
    calibration = Calibration()
    for exact in (10, 100_000):
        calibration.learn(text_cost(TEXTS["english"] * 3), exact)
    assert calibration.state == Calibration().state


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("anthropic/claude-sonnet-4-5", "claude"),
        ("openai/gpt-4o-mini", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("deepseek/deepseek-chat", "deepseek"),
        ("openrouter/qwen/qwen3-coder", "qwen"),
    ],
)
def test_a_model_of_a_known_family_is_estimated_well_before_it_reports(name: str, like: str) -> None:
    known = Calibration.for_model(name)
    for kind, text in TEXTS.items():
        assert estimate_tokens(text, known) == pytest.approx(COUNTS[like][kind], rel=0.2), kind


def test_an_unknown_model_starts_without_an_opinion() -> None:
    assert Calibration.for_model("foo3/my-model").state == Calibration().state


def test_a_run_of_letters_costs_a_token_every_four() -> None:
    assert estimate_text_tokens([user("a" * 100), user("b" * 200)]) == 75


def test_media_and_tool_calls_count_and_reasoning_does_not() -> None:
    call = ToolCall(id="1", function=ToolCall.FunctionBody(name="Shell", arguments='{"command": "ls -la /tmp"}'))
    image = ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:image/png;base64," + "A" * 9999))
    assert estimate_text_tokens([Message(role="assistant", content="", tool_calls=[call])]) > 10
    assert estimate_text_tokens([Message(role="user", content=[image])]) == 1000
    thought = Message(role="assistant", content=[TextPart(text="ok"), ThinkPart(think="x " * 500)])
    assert estimate_text_tokens([thought]) == estimate_text_tokens([user("ok")])


def test_a_huge_text_is_judged_by_samples() -> None:
    text = TEXTS["code"] * 2000
    assert estimate_tokens(text) == pytest.approx(estimate_tokens(TEXTS["code"]) * 2000, rel=0.05)


@pytest.mark.parametrize(
    ("used", "due"), [(0, False), (84_999, False), (85_000, True), (49_999, False), (50_000, False)]
)
def test_compaction_is_due_by_share_of_the_window(used: int, due: bool) -> None:
    assert should_auto_compact(used, 100_000, trigger_ratio=0.85, reserved_context_size=0) is due


@pytest.mark.parametrize(("used", "due"), [(49_999, False), (50_000, True)])
def test_compaction_is_due_when_the_reserve_is_touched(used: int, due: bool) -> None:
    assert should_auto_compact(used, 100_000, trigger_ratio=0.99, reserved_context_size=50_000) is due


async def test_a_context_learns_from_the_reports_between_which_nothing_else_happened(tmp_path: Path) -> None:
    calibration = Calibration()
    context = Context(tmp_path / "context.jsonl", calibration=calibration)
    await context.restore()
    await context.commit(messages=[assistant("first")], usage=5000)
    assert calibration.state == Calibration().state
    await context.commit(messages=[assistant(TEXTS["chinese"] * 3)], usage=5000 + 98 * 3)
    assert calibration.tokens(text_cost(TEXTS["chinese"])) == pytest.approx(98, rel=0.1)
    await context.append_message(user(TEXTS["chinese"]))
    assert context.pending_tokens == estimate_text_tokens([user(TEXTS["chinese"])], calibration)
    assert context.pending_tokens == pytest.approx(98, rel=0.1)


async def test_an_estimate_recorded_by_a_compaction_is_no_report(tmp_path: Path) -> None:
    calibration = Calibration()
    context = Context(tmp_path / "context.jsonl", calibration=calibration)
    await context.restore()
    await context.commit(messages=[assistant("first")], usage=5000)
    await context.rewrite("compact", keep_until=None, checkpoint=True, messages=[user("summary")], usage=9)
    await context.commit(messages=[assistant(TEXTS["english"] * 3)], usage=9 + 600)
    assert calibration.state == Calibration().state


async def test_the_tokens_before_a_checkpoint_are_exact_plus_pending(tmp_path: Path) -> None:
    context = Context(tmp_path / "context.jsonl")
    await context.commit(messages=[assistant("one")], usage=50)
    await context.append_message(user(TEXTS["english"]))
    before = context.token_count_with_pending
    await context.checkpoint(add_user_message=False)
    await context.append_message(user("later"))
    assert context.checkpoints[0].tokens == before
    assert context.projection.find(CheckpointRef(0)).history_index == 2


async def test_long_texts_are_weighed_in_a_worker_before_they_are_part_of_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, threads = [user(TEXTS["english"] * 20) for _ in range(5)], set[str]()

    def weigh(message: Message) -> Cost:
        threads.add(threading.current_thread().name)
        return message_cost(message)

    monkeypatch.setattr("kimi_tui.context.lines.message_cost", weigh)
    monkeypatch.setattr("kimi_tui.context.history.message_cost", weigh)
    context = Context(tmp_path / "context.jsonl")
    await context.append_message(long)
    assert context.pending_tokens == estimate_text_tokens(long)
    assert threads and "MainThread" not in threads
    await context.append_message(user("short"))
    assert context.pending_tokens == estimate_text_tokens([*long, user("short")])
    assert "MainThread" in threads, "what is short is not worth the way there"
