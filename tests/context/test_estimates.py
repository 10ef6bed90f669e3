"""Estimates against real tokenizers, on texts that none of the figures were fitted to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

import pytest

from kimi_tui.context import Calibration, Context, estimate_text_tokens
from kimi_tui.context.calibration import Cost
from kimi_tui.context.costs import COSTS, TOKENIZERS
from kimi_tui.context.pieces import pieces
from kimi_tui.context.tokens import text_cost, total
from tests.context.scenarios import user
from tests.context.tokenizers import at_hand, counter

SAMPLES = {path.stem: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "samples").glob("*.txt")}
COSTS_OF = {name: text_cost(text) for name, text in SAMPLES.items()}

MEDIAN, WORST = 0.05, 0.15
"""How far off estimates may be after one exact report."""

MODELS = pytest.mark.parametrize("model", at_hand())


def kind(name: str) -> str:
    return name.partition("-")[0]


def counted(model: str, names: Iterable[str]) -> tuple[Cost, int]:
    """What an exact report of these samples teaches from."""
    names = list(names)
    return total(COSTS_OF[name] for name in names), sum(counter(model)(SAMPLES[name]) for name in names)


def error(calibration: Calibration, model: str, names: Iterable[str]) -> float:
    cost, exact = counted(model, names)
    return abs(calibration.tokens(cost) / exact - 1)


def taught(calibration: Calibration, model: str, names: Iterable[str]) -> Calibration:
    assert calibration.learn(*counted(model, names))
    return calibration


def others(name: str, *, same_kind: bool) -> list[str]:
    return [each for each in SAMPLES if each != name and (not same_kind or kind(each) == kind(name))]


def within_limits(errors: dict[str, float]) -> None:
    assert median(errors.values()) <= MEDIAN, errors
    assert max(errors.values()) <= WORST, errors


def test_the_tokenizers_that_decide_are_installed() -> None:
    assert {"openai/gpt-4-turbo", "anthropic/claude-2.1"} <= set(at_hand())


@MODELS
def test_one_report_of_such_text_is_enough_for_a_model_that_nobody_knows(model: str) -> None:
    within_limits(
        {name: error(taught(Calibration(), model, others(name, same_kind=True)), model, [name]) for name in SAMPLES}
    )


@MODELS
def test_one_report_of_a_mixed_conversation_is_enough_for_any_text_of_a_known_family(model: str) -> None:
    known = Calibration.for_model
    within_limits(
        {name: error(taught(known(model), model, others(name, same_kind=False)), model, [name]) for name in SAMPLES}
    )


@MODELS
def test_a_known_family_needs_no_report(model: str) -> None:
    within_limits({name: error(Calibration.for_model(model), model, [name]) for name in SAMPLES})


@MODELS
def test_the_rest_of_a_conversation_is_right_within_a_twentieth_once_its_first_half_was_reported(model: str) -> None:
    names = sorted(SAMPLES)
    calibration = taught(Calibration(), model, names[::2])
    assert error(calibration, model, names[1::2]) <= MEDIAN


@MODELS
async def test_the_gauge_is_right_within_a_twentieth_in_a_session_in_two_languages(tmp_path: Path, model: str) -> None:
    """Without being told what model it is: each message is estimated by what the log's own reports taught."""
    context, exact = Context(tmp_path / "context.jsonl"), 0
    await context.restore()
    for number, name in enumerate(sorted(SAMPLES, key=lambda name: (kind(name) != "mixed", name[::-1]))):
        await context.append_message(user(SAMPLES[name]))
        exact += counter(model)(SAMPLES[name])
        if number:
            assert context.token_count_with_pending == pytest.approx(exact, rel=MEDIAN), name
        await context.update_token_count(exact)


def test_every_kind_of_piece_has_its_costs() -> None:
    text = (
        "".join(SAMPLES.values()) + "".join(map(chr, range(0x3000))) + "🙂" + "a" * 99 + "\ud800" + "A" * 50 + "=" * 99
    )
    assert set(pieces(text)) <= set(COSTS)
    assert {len(costs) for costs in COSTS.values()} == {len(TOKENIZERS)}


def test_any_character_costs_something_and_none_is_too_much() -> None:
    for number in (*range(0x20, 0x3100), *range(0x3100, 0xD800, 23), *range(0xE000, 0x20000, 23)):
        if not chr(number).isspace():
            assert 0 < estimate_text_tokens([user(chr(number) * 10)]) <= 60, hex(number)


def test_two_texts_cost_what_they_cost_apart_but_for_the_seam() -> None:
    for name, text in SAMPLES.items():
        whole, half = text_cost(text + "\n" + text)[0], text_cost(text)[0]
        assert whole == pytest.approx(2 * half, rel=0.01), name


@pytest.mark.parametrize(
    "text", [" " * 5000 + "x", "\n" * 900, "🙂" * 400, "ｱ" * 300, "あ" * 300, "\u0627" * 300, "_" * 900]
)
def test_reports_of_strange_texts_leave_the_estimates_sane(text: str) -> None:
    calibration, cost = Calibration(), text_cost(text)
    for exact in (*range(30, 2000, 37), min(cost) // 1000, max(cost) // 1000, 10**9, 0):
        calibration.learn(cost, exact)
    for name, sample in COSTS_OF.items():
        assert 0.3 * min(sample) <= 1000 * calibration.tokens(sample) <= 2 * max(sample), name
