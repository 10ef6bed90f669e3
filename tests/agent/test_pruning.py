"""A session stays within its budget: by a word, by itself, or not at all, as the settings say."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kimi_tui.agent.desk import Loop, Retention
from kimi_tui.context import Budget
from kimi_tui.protocol.commands import ChangeRotation, ClearContext, ProposePruning, PruneRotations, Undo
from kimi_tui.protocol.events import Noticed, PruningProposed, RotationsListed
from tests.agent.fakes import Bench, ScriptedModel, bench, quick, says


def keeping(
    policy: Literal["ask", "auto", "off"], rotations: int = 4, compress_after: int = 99, size: int = 1 << 30
) -> Loop:
    return quick(retention=Retention(policy, Budget(rotations, size, compress_after)))


def talkative(count: int = 9) -> ScriptedModel:
    return ScriptedModel(*(says(f"answer {number} " * 40) for number in range(count)))


async def with_rotations(it: Bench, count: int) -> None:
    for number in range(count):
        await it.turn(f"prompt {number}")
        await it.do(ClearContext())


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "s").glob("context_*"))


async def test_one_quiet_word_says_what_could_go_and_nothing_goes(tmp_path: Path) -> None:
    async with bench(tmp_path, talkative(), loop=keeping("ask")) as it:
        await with_rotations(it, 4)
        assert not it.all(Noticed)
        await with_rotations(it, 3)
        (told,) = it.all(Noticed)
        assert told.severity == "information"
        assert told.text.startswith("5 rotations (") and "1 removed would free" in told.text
        assert "P in /rotations" in told.text
        assert len(files(tmp_path)) == 7


async def test_what_the_user_has_seen_is_what_is_pruned(tmp_path: Path) -> None:
    async with bench(tmp_path, talkative(), loop=keeping("ask", compress_after=4)) as it:
        await with_rotations(it, 6)
        await it.do(ChangeRotation("context_1.jsonl", "pin"))
        await it.do(ProposePruning())
        found = it.last(PruningProposed).pruning
        assert (found.rotations, found.max_rotations) == (6, 4)
        assert [(step.change, step.file, step.step) for step in found.steps] == [
            ("delete", "context_2.jsonl", "undo"),
            ("delete", "context_3.jsonl", "undo"),
        ]
        assert len(files(tmp_path)) == 6
        await it.do(PruneRotations(found.steps))
        freed = sum(step.size for step in found.steps) / 1000
        assert it.last(Noticed).text == f"rotations: 2 removed, {freed:.1f} kB freed; undo reaches 2 fewer"
        assert [view.file for view in it.last(RotationsListed).rotations if not view.live] == [
            f"context_{number}.jsonl" for number in (6, 5, 4, 1)
        ]


async def test_a_step_that_has_become_impossible_is_passed_over(tmp_path: Path) -> None:
    async with bench(tmp_path, talkative(), loop=keeping("ask")) as it:
        await with_rotations(it, 6)
        await it.do(ProposePruning())
        steps = it.last(PruningProposed).pruning.steps
        await it.do(ChangeRotation("context_1.jsonl", "pin"))
        await it.do(PruneRotations(steps))
        assert "1 removed" in it.last(Noticed).text
        assert "context_1.jsonl" in files(tmp_path) and "context_2.jsonl" not in files(tmp_path)


async def test_by_itself_idle_ones_are_compressed_first_then_the_oldest_go_and_it_is_said(tmp_path: Path) -> None:
    async with bench(tmp_path, talkative(), loop=keeping("auto", compress_after=3)) as it:
        await with_rotations(it, 5)
        assert [notice.text.partition(",")[0] for notice in it.all(Noticed)] == [
            "To keep the budget of this session: rotations: 1 compressed",
            "To keep the budget of this session: rotations: 1 compressed",
        ]
        assert "1 removed" in it.last(Noticed).text and "undo reaches 1 fewer" in it.last(Noticed).text
        assert {name.removesuffix(".zst").removesuffix(".gz") for name in files(tmp_path)} == {
            f"context_{number}.jsonl" for number in (2, 3, 4, 5)
        }
        await it.do(Undo())
        assert "user: prompt 4" in it.told()


async def test_switched_off_nothing_happens_and_nothing_is_said(tmp_path: Path) -> None:
    async with bench(tmp_path, talkative(), loop=keeping("off", compress_after=0)) as it:
        await with_rotations(it, 6)
        assert not it.all(Noticed)
        assert len(files(tmp_path)) == 6


async def test_a_session_that_is_too_big_already_says_so_when_it_is_opened(tmp_path: Path) -> None:
    async with bench(tmp_path, talkative(), loop=keeping("off")) as it:
        await with_rotations(it, 6)
    async with bench(tmp_path, talkative(), loop=keeping("ask")) as it:
        assert "2 removed" in (await it.until(Noticed)).text
