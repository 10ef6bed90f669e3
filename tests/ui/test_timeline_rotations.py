"""The rotation browser: list, conversation, and every change asked for before it is made."""

from __future__ import annotations

import dataclasses

import pytest
from textual.pilot import Pilot

from kimi_tui.protocol.commands import (
    ChangeRotation,
    CompareTimelines,
    ExportTimeline,
    Fork,
    ListRotations,
    PreviewRevert,
    ProposePruning,
    PruneRotations,
    ReadRotation,
    RevertTo,
)
from kimi_tui.protocol.events import PruningProposed, RevertPreviewed
from kimi_tui.protocol.views import FileTouched, PruneStep, PruningView, RevertPreview
from kimi_tui.ui.screens.compare import Compare
from kimi_tui.ui.screens.prune import Prune
from kimi_tui.ui.screens.revert_choice import UNTOUCHED
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.widgets.readout import Readout
from kimi_tui.ui.widgets.sheet import Sheet
from tests.ui.samples import NOW
from tests.ui.stage import Stage
from tests.ui.test_timeline_pages import text_of
from tests.ui.waiting import settled, until


def browser(app: Stage) -> Rotations:
    screen = app.screen_stack[1]
    assert isinstance(screen, Rotations)
    screen.rotations.clock = lambda: NOW
    return screen


async def opened(pilot: Pilot[None], *keys: str) -> Rotations:
    await settled(pilot)
    await pilot.press(*keys)
    assert isinstance(pilot.app, Stage)
    screen = browser(pilot.app)
    app = pilot.app

    def read() -> bool:
        return screen.chosen is None or not screen.is_current or ReadRotation(screen.chosen.file) in app.commands

    await until(pilot, read)
    return screen


async def test_the_chosen_files_conversation_stands_beside_the_list() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot, "down")
        assert app.commands[0] == ListRotations()
        assert app.commands[-1] == ReadRotation("context_3.jsonl")
        shown = [screen.rotations.render_line(y).text.split() for y in range(4)]
        assert shown[1] == ["›↶", "context_3", "D-Mail", "79.5k", "2", "min"]
        assert shown[2] == ["◆", "context_2", "★", "compacted", "180k", "1", "h"]
        said = [screen.past.reader.render_line(y).text for y in range(screen.past.reader.size.height)]
        assert any("Fix the failing parser test" in line for line in said)
        assert any("[so] the key is missing" in line for line in said)


async def test_running_through_the_list_reads_only_where_one_stops() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot)
        for _ in range(3):
            screen.rotations.action_move(1)
        await until(pilot, lambda: ReadRotation("context_1.jsonl.gz") in app.commands)
        assert ReadRotation("context_2.jsonl") not in app.commands
        assert ReadRotation("context_3.jsonl") not in app.commands


async def test_restoring_asks_and_leaves_the_files_alone_unless_they_are_wanted() -> None:
    for keys, command in (
        ((), RevertTo(None, "context_3.jsonl")),
        (("down",), RevertTo(None, "context_3.jsonl", files="restore")),
        (("down", "down"), RevertTo(None, "context_3.jsonl", files="only")),
        (("down", "down", "down"), Fork(None, "context_3.jsonl")),
    ):
        app = Stage(Rotations)
        async with app.run_test(size=(120, 30)) as pilot:
            await opened(pilot, "down", "r")
            assert PreviewRevert(None, "context_3.jsonl") in app.commands
            files = (FileTouched("a.py", False, "rewritten"),)
            app.tell(RevertPreviewed(RevertPreview(None, "context_3.jsonl", files=files, restorable=True)))
            await settled(pilot)
            shown = text_of(app)
            assert "Restore context_3.jsonl?" in shown and "put back   a.py" in shown and UNTOUCHED in shown
            await pilot.press(*keys, "enter")
            await settled(pilot)
            assert command in app.commands
            assert len(app.screen_stack) == 1


async def test_deleting_keeps_the_file_unless_told_otherwise() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        await opened(pilot, "down", "x", "enter")
        assert not any(isinstance(command, ChangeRotation) for command in app.commands)
        await pilot.press("x", "down", "enter")
        await settled(pilot)
        assert ChangeRotation("context_3.jsonl", "delete") in app.commands


async def test_pin_compress_export_and_compare_are_one_key() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        await opened(pilot, "down", "down", "p", "c", "e", "d")
        wanted = [command for command in app.commands if not isinstance(command, ListRotations | ReadRotation)]
        assert isinstance(app.screen, Compare)
        assert wanted == [
            ChangeRotation("context_2.jsonl", "unpin"),
            ChangeRotation("context_2.jsonl", "compress"),
            ExportTimeline("context_2.jsonl"),
            CompareTimelines("context_2.jsonl", "now"),
        ]


async def test_the_present_can_be_neither_restored_nor_deleted() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        await opened(pilot, "r", "x", "p", "c", "d")
        assert len(app.screen_stack) == 2
        assert all(isinstance(command, ListRotations | ReadRotation) for command in app.commands)


async def test_search_looks_at_names_reasons_and_notes() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot, "slash", *"fixture")
        assert [item.file for item in screen.rotations.shown] == ["context_3.jsonl"]
        await pilot.press("escape")
        assert len(screen.rotations.shown) == 4
        assert app.screen is screen


async def test_on_a_narrow_screen_list_and_conversation_take_turns() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(60, 16)) as pilot:
        screen = await opened(pilot, "down")
        assert not screen.past.reader.region
        await pilot.press("enter")
        await settled(pilot)
        assert screen.past.reader.has_focus
        assert screen.past.reader.region.width > 50
        await pilot.press("escape")
        await settled(pilot)
        assert screen.rotations.has_focus
        await pilot.press("escape")
        await settled(pilot)
        assert len(app.screen_stack) == 1


@pytest.mark.parametrize("size", [(200, 60), (20, 5), (4, 2), (1, 1)])
async def test_any_size_is_survived(size: tuple[int, int]) -> None:
    app = Stage(Rotations)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, "down", "enter", "escape", "x")


async def test_the_conversation_is_searched_too() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot, "down", "enter", "slash", *"parser")
        assert screen.past.finder.is_open
        said = [screen.past.reader.render_line(y).text for y in range(screen.past.reader.size.height)]
        assert any("parser.py" in line for line in said)
        assert screen.past._at == 3
        await pilot.press("up")
        await settled(pilot)
        assert screen.past._at == 2
        await pilot.press("escape")
        await settled(pilot)
        assert screen.past.reader.has_focus
        await pilot.press("escape")
        await settled(pilot)
        assert screen.rotations.has_focus


PRUNING = PruningView(
    (
        PruneStep("context_1.jsonl", "delete", 4_100_000, 4_100_000, "revert", NOW - 7200, "undo"),
        PruneStep("context_2.jsonl", "compress", 1_200_000, 900_000, "compact", NOW - 3600),
    ),
    rotations=22,
    size=212_000_000,
    max_rotations=20,
    max_size=200_000_000,
)


async def proposed(pilot: Pilot[None], found: PruningView) -> list[str]:
    app = pilot.app
    assert isinstance(app, Stage)
    await opened(pilot, "P")
    assert ProposePruning() in app.commands
    app.tell(PruningProposed(found))
    await settled(pilot)
    assert isinstance(app.screen, Prune)
    shown = [*app.screen.query(Sheet), *app.screen.query(Readout)]
    return ["".join(line.text for line in each.render_lines(each.size.region)) for each in shown]


async def test_pruning_lists_every_file_with_what_it_frees_and_the_safe_answer_comes_first() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        said = " ".join("".join(await proposed(pilot, PRUNING)).split())
        assert "Prune 2 rotations?" in said and "22 of 20 rotations, 212 MB of 200 MB" in said
        assert "delete context_1 you went back undo goes there 4.1 MB 2 h" in said
        assert "compress context_2 compacted 1.2 MB → about 300 KB 1 h" in said
        assert "Undo would reach 1 step less far." in said
        await pilot.press("enter")
        assert not any(isinstance(command, PruneRotations) for command in app.commands)
        app.tell(PruningProposed(PRUNING))
        await settled(pilot)
        await pilot.press("down", "enter")
        await settled(pilot)
        assert PruneRotations(PRUNING.steps) in app.commands


async def test_however_much_there_is_to_prune_the_question_stays_in_sight() -> None:
    step = PruneStep("context_1.jsonl", "delete", 4_100_000, 4_100_000, "revert", NOW - 7200, "undo")
    found = dataclasses.replace(PRUNING, steps=(step,) * 300)
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        await proposed(pilot, found)
        shown = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "Prune 300 rotations?" in shown and "Undo would reach 300 steps" in shown
        assert "keep everything" in shown and "delete 300" in shown
        assert shown.count("undo goes there") > 10


async def test_within_the_budget_pruning_only_says_how_it_stands() -> None:
    app = Stage(Rotations)
    async with app.run_test(size=(120, 30)) as pilot:
        said = " ".join("".join(await proposed(pilot, PruningView((), 4, 3_000_000, 20, 200_000_000))).split())
        assert "There is nothing to prune" in said and "4 of 20 rotations, 3.0 MB of 200 MB" in said
        await pilot.press("enter")
        await settled(pilot)
        assert len(app.screen_stack) == 2
