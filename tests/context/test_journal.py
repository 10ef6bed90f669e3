"""`timeline.jsonl` only describes: with any of its lines lost, no timeline is out of reach."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.context import Context, list_rotations, read_timeline_file
from tests.context.faulty_disk import CountingDisk
from tests.context.scenarios import a_session, user


async def opened(path: Path) -> Context:
    context = Context(path)
    await context.restore()
    return context


def entries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "timeline.jsonl").read_text().splitlines()]


async def reachable(path: Path) -> set[str]:
    """What the user's messages say, in every timeline that can be gone to."""
    files = [path.name, *(rotation.file for rotation in await list_rotations(path))]
    histories = [(await read_timeline_file(path.parent / file)).history for file in files]
    return {message.text() for history in histories for message in history if message.role == "user"}


@pytest.fixture
async def torn_off(tmp_path: Path) -> Path:
    """A session that was killed right after a revert, before that was noted as done."""
    path = tmp_path / "context.jsonl"
    await a_session(path)
    context = await opened(path)
    await context.revert_to(2)
    await context.append_message(user("after the revert"))
    await context.close()
    journal = path.with_name("timeline.jsonl")
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    return path


Change = Callable[[Context], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "undo": lambda context: context.undo(),
    "compress": lambda context: context.compress("context_1.jsonl"),
    "delete": lambda context: context.delete("context_1.jsonl"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_switch_that_was_not_noted_as_done_stays_one_when_its_rotation_changes(
    torn_off: Path, change: str
) -> None:
    context = await opened(torn_off)
    await CHANGES[change](context)
    assert {"done": context.timeline.switches[0].id} in entries(torn_off.parent)
    await context.clear()
    expected = [(node.id, node.file, node.parent) for node in context.timeline.nodes]
    await context.close()
    assert [(node.id, node.file, node.parent) for node in (await opened(torn_off)).timeline.nodes] == expected
    assert "after the revert" in await reachable(torn_off)


async def test_a_compressed_rotation_is_known_to_a_journal_that_was_not_noted_as_done(torn_off: Path) -> None:
    context = await opened(torn_off)
    await context.compress("context_1.jsonl")
    await context.close()
    journal = torn_off.with_name("timeline.jsonl")
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    assert [switch.why for switch in (await opened(torn_off)).timeline.switches] == ["revert"]


async def test_what_the_disk_refuses_to_note_is_noted_with_the_next_entry(tmp_path: Path) -> None:
    class RefusesDone(CountingDisk):
        refuses = True

        def before(self, name: str, args: tuple[Any, ...]) -> None:
            if self.refuses and name == "write" and bytes(args[1]).startswith(b'{"done"'):
                raise OSError(28, "No space left on device")

    path, disk = tmp_path / "context.jsonl", RefusesDone()
    await a_session(path)
    context = Context(path, disk=disk)
    await context.restore()
    switch = await context.rewrite("clear", keep_until=None)
    assert {"done": switch.id} not in entries(tmp_path)
    disk.refuses = False
    await context.pin(switch.file)
    assert entries(tmp_path)[1:] == [{"done": switch.id}, {"pin": {"file": switch.file, "on": True}}]


async def test_whatever_line_is_lost_every_timeline_can_be_gone_to(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    await a_session(path)
    context = await opened(path)
    for number, go_on in enumerate([context.clear, lambda: context.revert_to(0), context.undo, context.clear]):
        await context.checkpoint(add_user_message=False)
        await context.append_message(user(f"in timeline {number}"))
        await go_on()
    await context.compress("context_1.jsonl")
    await context.close()
    expected = await reachable(path)
    assert {f"in timeline {number}" for number in range(4)} | {"pending"} <= expected
    journal = path.with_name("timeline.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        journal.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        assert await reachable(path) == expected
    journal.unlink()
    assert await reachable(path) == expected
