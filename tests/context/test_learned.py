"""What was learned of a model's counting is there again at the next start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_tui.context import Calibration, Context, Learned, estimate_tokens
from kimi_tui.context.learned import LARGEST, MODELS
from kimi_tui.context.tokens import text_cost
from kimi_tui.protocol.messages import TextPart, ThinkPart
from tests.context.scenarios import assistant
from tests.context.texts import TEXTS

CHINESE = text_cost(TEXTS["chinese"] * 5)
UNTAUGHT = Calibration().tokens(CHINESE)


def test_a_new_session_starts_with_what_the_last_one_learned(tmp_path: Path) -> None:
    file = tmp_path / "data" / "calibration.json"
    first = Learned(file)
    first.of("mine").learn(CHINESE, 490)
    first.keep()
    again = Learned(file)
    assert again.of("mine").state == first.of("mine").state
    assert again.of("other").state == Calibration().state
    assert [path.name for path in file.parent.iterdir()] == ["calibration.json"]


def test_all_who_ask_share_one_calibration(tmp_path: Path) -> None:
    learned = Learned()
    assert learned.of("mine") is learned.of("mine")
    assert learned.of("mine") is not learned.of("other")
    learned.keep()


def test_nothing_learned_writes_nothing(tmp_path: Path) -> None:
    learned = Learned(tmp_path / "calibration.json")
    learned.of("mine")
    learned.keep()
    assert not list(tmp_path.iterdir())


def test_what_another_program_learned_of_other_models_stays(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    one, other = Learned(file), Learned(file)
    one.of("mine").learn(CHINESE, 490)
    other.of("qwen").learn(CHINESE, 940)
    one.keep()
    other.keep()
    both = Learned(file)
    assert both.of("mine").state == one.of("mine").state
    assert both.of("qwen").state == other.of("qwen").state


def test_only_the_models_that_learned_last_are_remembered(tmp_path: Path) -> None:
    learned = Learned(tmp_path / "calibration.json")
    for number in range(MODELS + 3):
        learned.of(f"model {number}").learn(CHINESE, 490)
        learned.keep()
    again = Learned(tmp_path / "calibration.json")
    assert [again.of(f"model {n}").tokens(CHINESE) == UNTAUGHT for n in (0, 2, 3, MODELS + 2)] == [
        True,
        True,
        False,
        False,
    ]


def of_numbers(*numbers: float) -> bytes:
    return json.dumps({"mine": numbers}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"mine": [1, 2]}',
        of_numbers(9e9, *[0.1] * 63),
        of_numbers(*[0.0] * 8, *[5.0] * 7, *[0.1] * 49),
        of_numbers(*[0.0] * 8, *[0.1] * 7, *[-0.1] * 49),
        of_numbers(*[0.0] * 8, *[0.1] * 7, *[0.1] * 49) + b" " * LARGEST,
    ],
    ids=["empty", "cut", "list", "bytes", "short", "far off", "together far off", "negative", "huge"],
)
def test_a_file_that_makes_no_sense_teaches_nothing_and_is_replaced(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "calibration.json"
    file.write_bytes(content)
    learned = Learned(file)
    assert learned.of("mine").state == Calibration().state
    learned.of("mine").learn(CHINESE, 490)
    learned.keep()
    assert Learned(file).of("mine").state == learned.of("mine").state


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    learned = Learned(tmp_path / "file" / "calibration.json")
    learned.of("mine").learn(CHINESE, 490)
    learned.keep()
    assert learned.of("mine").tokens(CHINESE) < UNTAUGHT


async def test_reports_teach_nothing_while_the_model_thinks_aloud(tmp_path: Path) -> None:
    calibration = Calibration()
    context = Context(tmp_path / "context.jsonl", calibration=calibration)
    await context.restore()
    thinking = assistant("first").model_copy(update={"content": [ThinkPart(think="hm " * 300), TextPart(text="x")]})
    await context.commit(messages=[thinking], usage=5000)
    await context.commit(messages=[assistant(TEXTS["english"] * 5)], usage=5000 + 700)
    assert calibration.state == Calibration().state, "what was thought is gone from the next report"


async def test_another_models_reports_do_not_teach_about_the_new_one(tmp_path: Path) -> None:
    first, second = Calibration(), Calibration()
    context = Context(tmp_path / "context.jsonl", calibration=first)
    await context.restore()
    await context.commit(messages=[assistant("first")], usage=5000)
    context.calibrate(second)
    await context.commit(messages=[assistant(TEXTS["chinese"] * 3)], usage=5000 + 98 * 3)
    assert first.state == second.state == Calibration().state
    await context.commit(messages=[assistant(TEXTS["chinese"] * 3)], usage=5000 + 98 * 6)
    assert first.tokens(CHINESE) == UNTAUGHT > second.tokens(CHINESE)
    await context.append_message(assistant(TEXTS["chinese"]))
    assert context.pending_tokens == estimate_tokens(TEXTS["chinese"], second)
