"""One writer a session; and no record lost when a program that knows no locks writes too."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.context import Context, SessionLocked
from tests.context.scenarios import a_session, said_by, told, user

HOLD = """
import asyncio, sys
from pathlib import Path
from kimi_tui.context import Context
async def hold():
    context = Context(Path(sys.argv[1]))
    await context.restore()
    print("open", flush=True)
    sys.stdin.read()
asyncio.run(hold())
"""

SCRIBBLE = """
import sys
for number in range(200):
    with open(sys.argv[1], "a") as file:
        file.write('{"role":"user","content":"theirs %d"}\\n' % number)
"""


async def test_the_holder_is_named_and_a_killed_one_holds_no_more(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    await a_session(path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        context = Context(path)
        assert await context.restore()
        assert context.holder is not None
        assert context.holder.pid == other.pid
        with pytest.raises(SessionLocked, match=f"process {other.pid}"):
            await context.revert_to(1)
        other.kill()
    await context.close()
    context = Context(path)
    await context.restore()
    assert context.holder is None
    await context.revert_to(1)


async def test_appends_of_a_program_without_locks_are_neither_lost_nor_harmed(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    context = Context(path)
    await context.restore()
    await context.append_message(user("first"))
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", SCRIBBLE, path)
    ours = 0
    while other.returncode is None or ours < 50:
        await context.append_message(user(f"ours {ours}"))
        ours += 1
        await asyncio.sleep(0.001)
    await context.append_message(user("last"))
    texts = [message.text() for message in context.history]
    assert [text for text in texts if text.startswith("theirs")] == [f"theirs {n}" for n in range(200)]
    assert [text for text in texts if text.startswith("ours")] == [f"ours {n}" for n in range(ours)]
    expected = told(context)
    await context.close()
    assert await said_by(path) == expected


async def test_a_context_that_never_restored_leaves_the_session_free_between_writes(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    first, second = Context(path), Context(path)
    await first.append_message(user("one"))
    await second.restore()
    assert second.holder is None
    with pytest.raises(SessionLocked):
        await first.append_message(user("two"))
    await second.append_message(user("three"))
    assert [message.text() for message in second.history] == ["one", "three"]


async def test_a_context_for_reading_only_takes_no_lock_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    await a_session(path)
    names = sorted(tmp_path.iterdir())
    reader = Context(path, read_only=True)
    await reader.restore()
    writer = Context(path)
    await writer.restore()
    assert (writer.holder, len(reader.history)) == (None, 15)
    with pytest.raises(SessionLocked, match="reading only"):
        await reader.clear()
    assert sorted(tmp_path.iterdir()) == names
