"""The disk refuses, the user cancels, the file is cut anywhere: memory and disk never part, nothing good is lost."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.context import Context
from kimi_tui.context.disk import Disk
from tests.context.faulty_disk import CountingDisk, NoLinkDisk, RefusingDisk
from tests.context.scenarios import SCENARIOS, Scenario, a_session, a_torn_session, litter, said_by, told, user

ACTING = [scenario for scenario in SCENARIOS if scenario.name not in ("mend", "bring back", "repair")]


async def prepared(scenario: Scenario, folder: Path) -> Path:
    folder.mkdir()
    await scenario.prepare(folder / "context.jsonl")
    return folder / "context.jsonl"


async def acted_on(scenario: Scenario, path: Path, disk: RefusingDisk) -> Context:
    context = Context(path, disk=disk)
    await context.restore()
    disk.calls = 0
    await scenario.act(context)
    return context


def ways_to_refuse(at: int) -> list[RefusingDisk]:
    return [
        RefusingDisk(at),
        RefusingDisk(at, number=errno.EIO, torn=True),
        RefusingDisk(at, number=errno.EDQUOT, for_ever=True),
    ]


@pytest.mark.parametrize("scenario", ACTING, ids=lambda scenario: scenario.name)
async def test_a_refused_call_changes_nothing_and_a_retry_works(scenario: Scenario, tmp_path: Path) -> None:
    source = await prepared(scenario, tmp_path / "prepared")
    refused = True
    at = 0
    while refused:
        at += 1
        refused = False
        for number, disk in enumerate(ways_to_refuse(at)):
            folder = tmp_path / f"case-{at}-{number}"
            shutil.copytree(source.parent, folder)
            refused |= await _refuse(scenario, folder / "context.jsonl", disk)
            shutil.rmtree(folder)
    assert at > 2


async def _refuse(scenario: Scenario, path: Path, disk: RefusingDisk) -> bool:
    """False when the disk was never asked so often."""
    context = Context(path, disk=RefusingDisk(10**9))
    await context.restore()
    before, blank = told(context), path.read_bytes()
    context._store.disk = context._store.log._disk = context._store.journal._disk = disk
    failed = False
    try:
        await scenario.act(context)
    except OSError:
        failed = True
        assert (told(context), path.read_bytes()) == (before, blank) or disk.for_ever
    disk.healed = True
    assert failed <= disk.refused
    if failed:
        assert told(context) == before
        await scenario.act(context)
    expected = told(context)
    assert litter(path.parent) == []
    await context.close()
    assert await said_by(path) == expected
    return disk.refused


@pytest.mark.parametrize("scenario", ACTING, ids=lambda scenario: scenario.name)
async def test_a_cancelled_call_lands_before_or_after(scenario: Scenario, tmp_path: Path) -> None:
    source = await prepared(scenario, tmp_path / "prepared")
    cancelled, turns = True, 0
    while cancelled and turns < 12:
        folder = tmp_path / f"case-{turns}"
        shutil.copytree(source.parent, folder)
        path = folder / "context.jsonl"
        context = Context(path)
        await context.restore()
        before = told(context)
        task = asyncio.ensure_future(scenario.act(context))
        for _ in range(turns):
            await asyncio.sleep(0)
        cancelled = task.cancel()
        [outcome] = await asyncio.gather(task, return_exceptions=True)
        assert outcome is None or not isinstance(outcome, Exception)
        after = told(context)
        await context.append_message(user("next"))
        assert len(context.history) == len(after[0]) + 1  # type: ignore[arg-type]
        expected = told(context)
        await context.close()
        assert await said_by(path) == expected
        assert before == after or turns > 0
        turns += 1


SWITCHES = ["revert", "dmail", "clear", "compaction", "new prompt", "replace", "go to", "undo", "redo"]


class BlindAfterwards(Disk):
    """Once the new file has its name, no file can be opened any more."""

    def __init__(self) -> None:
        self.blind = False
        self.looks = 0

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self.blind = True

    def look(self, opening: Callable[..., Any]) -> Callable[..., Any]:
        def refused(*args: Any, **options: Any) -> Any:
            self.looks += self.blind
            if self.blind:
                raise OSError(errno.EMFILE, "too many open files")
            return opening(*args, **options)

        return refused


@pytest.mark.parametrize("name", SWITCHES)
async def test_once_the_new_file_has_its_name_nothing_can_fail(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = next(each for each in SCENARIOS if each.name == name)
    path = await prepared(scenario, tmp_path / "session")
    disk = BlindAfterwards()
    context = Context(path, disk=disk)
    await context.restore()
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", disk.look(os.open))
        patched.setattr(io, "open", disk.look(io.open))
        await scenario.act(context)
    assert disk.looks
    expected = told(context)
    await context.close()
    assert await said_by(path) == expected


async def test_a_torn_session_opens_on_a_full_disk_and_is_closed_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    await a_torn_session(path)
    torn = path.read_bytes()
    disk = RefusingDisk(1, for_ever=True)
    context = Context(path, disk=disk)
    await context.restore()
    count = len(context.history)
    assert [problem.kind for problem in context.problems] == ["disk"]
    with pytest.raises(OSError, match="No space"):
        await context.append_message(user("too much"))
    assert (len(context.history), path.read_bytes()) == (count, torn)
    disk.healed = True
    await context.append_message(user("next"))
    expected = told(context)
    await context.close()
    assert len(context.history) == count + 1
    assert await said_by(path) == expected


async def test_a_session_cut_at_any_byte_opens_and_goes_on(tmp_path: Path) -> None:
    whole = tmp_path / "whole" / "context.jsonl"
    await a_session(whole, steps=2)
    data = whole.read_bytes()
    lines = data.splitlines(keepends=True)
    path = tmp_path / "cut" / "context.jsonl"
    path.parent.mkdir()
    for stop in range(len(data) - len(b"".join(lines[-3:])), len(data)):
        path.write_bytes(data[:stop])
        context = Context(path)
        await context.restore()
        complete = [json.loads(line) for line in _complete(data[:stop])]
        messages = sum(not record["role"].startswith("_") for record in complete)
        assert len(context.history) == messages
        await context.append_message(user("next"))
        await context.close()
        again = await said_by(path)
        assert len(again[0]) == messages + 1  # type: ignore[arg-type]


def _complete(data: bytes) -> list[bytes]:
    """The records that a cut left whole; the last may lack only its newline."""
    whole = []
    for line in data.split(b"\n"):
        try:
            json.loads(line)
        except ValueError:
            continue
        whole.append(line)
    return whole


async def test_without_hard_links_a_switch_copies(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    await a_session(path)
    before = path.read_bytes()
    context = Context(path, disk=NoLinkDisk())
    await context.restore()
    await context.revert_to(1)
    assert (tmp_path / "context_1.jsonl").read_bytes() == before
    assert litter(tmp_path) == []


async def test_a_batch_is_one_write(tmp_path: Path) -> None:
    disk = CountingDisk()
    context = Context(tmp_path / "context.jsonl", disk=disk)
    await context.restore()
    disk.names.clear()
    await context.append_message([user("x" * 5000) for _ in range(8)])
    assert disk.names.count("write") == 1


@pytest.mark.parametrize(("durability", "syncs"), [("off", 0), ("step", 1), ("always", 3)])
async def test_durability_decides_how_often_the_disk_is_waited_for(tmp_path: Path, durability: str, syncs: int) -> None:
    disk = CountingDisk()
    context = Context(tmp_path / "context.jsonl", disk=disk, durability=durability)  # type: ignore[arg-type]
    await context.restore()
    await context.checkpoint(add_user_message=False)
    await context.append_message(user("a"))
    await context.append_message(user("b"))
    await context.sync()
    assert disk.names.count("sync") == syncs
