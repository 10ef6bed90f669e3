"""A power cut leaves every switch done or not done, and every record whole or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.context import Context
from tests.context.crash_states import Model, RecordingDisk
from tests.context.scenarios import SCENARIOS, Scenario, litter, said_by, told

SWITCHES = ["revert", "dmail", "clear", "compaction", "new prompt", "replace", "go to", "undo", "redo"]
APPENDS = ["append", "batch", "step", "checkpoint"]


def scenario_named(name: str) -> Scenario:
    return next(scenario for scenario in SCENARIOS if scenario.name == name)


async def recorded(scenario: Scenario, folder: Path) -> tuple[Model, RecordingDisk, object, object]:
    """The folder before the change, what was asked of the disk, and what is known before and after."""
    folder.mkdir()
    path = folder / "context.jsonl"
    await scenario.prepare(path)
    disk = RecordingDisk()
    context = Context(path, disk=disk)
    await context.restore()
    before, model = told(context), Model(folder)
    disk.log.clear()
    await scenario.act(context)
    await context.close()
    return model, disk, before, told(context)


async def outcomes(state: dict[Path, bytes], folder: Path) -> tuple[object, ...]:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for path, data in state.items():
        (folder / path.name).write_bytes(data)
    left = await said_by(folder / "context.jsonl")
    assert litter(folder) == []
    return left


def distinct(model: Model) -> list[dict[Path, bytes]]:
    return [dict(state) for state in {tuple(sorted(state.items())) for state in model.states()}]


@pytest.mark.parametrize("name", SWITCHES)
async def test_a_power_cut_in_a_switch_leaves_the_old_or_the_new_timeline(name: str, tmp_path: Path) -> None:
    model, disk, before, after = await recorded(scenario_named(name), tmp_path / "session")
    seen = set()
    for operation in [("nothing", ()), *disk.log]:
        if operation[0] != "nothing":
            model.apply(*operation)
        for state in distinct(model):
            left = await outcomes(state, tmp_path / "left")
            assert left in (before, after), (name, operation)
            seen.add(left == after)
    assert seen == {False, True}
    assert await outcomes(distinct(model)[0], tmp_path / "left") == after, "acknowledged, so there after any cut"


@pytest.mark.parametrize("name", APPENDS)
async def test_a_power_cut_in_an_append_leaves_whole_records_in_order(name: str, tmp_path: Path) -> None:
    model, disk, before, after = await recorded(scenario_named(name), tmp_path / "session")
    old, new = before[0], after[0]  # type: ignore[index]
    for operation in disk.log:
        model.apply(*operation)
        for state in distinct(model):
            left = await outcomes(state, tmp_path / "left")
            messages = left[0]
            assert old == messages[: len(old)]  # type: ignore[index]
            assert messages == new[: len(messages)]  # type: ignore[arg-type]
    if name == "step":
        for state in distinct(model):
            assert await outcomes(state, tmp_path / "left") == after, "synced, so there after any cut"
