"""Hooks: real shell commands that get JSON and may say no."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.hooks import HOOK_EVENTS, HookDef, Hooks, run_hook


async def blocked_by(command: str, folder: Path) -> tuple[bool, str]:
    result = await run_hook(command, {"tool_name": "Shell"}, cwd=folder)
    return result.blocked, result.reason


def test_there_are_thirteen_events() -> None:
    assert len(HOOK_EVENTS) == 13


async def test_a_hook_reads_the_event_as_json_on_its_stdin(tmp_path: Path) -> None:
    hooks = Hooks([HookDef("PreToolUse", "cat > seen.json")], session_id="s1", work_dir=tmp_path)
    await hooks.trigger("PreToolUse", "Shell", tool_name="Shell", tool_input={"command": "ls ü"})
    assert json.loads((tmp_path / "seen.json").read_text()) == {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(tmp_path),
        "tool_name": "Shell",
        "tool_input": {"command": "ls ü"},
    }


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo not on a Friday >&2; exit 2", (True, "not on a Friday")),
        ('echo \'{"decision": "block", "reason": "no"}\'', (True, "no")),
        (
            'echo \'{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "mine"}}\'',
            (True, "mine"),
        ),
        ('echo \'{"decision": "allow"}\'', (False, "")),
        ('echo \'{"decision": "deny"}\'; exit 1', (False, "")),
        ("echo broken {", (False, "")),
        ("echo '[1]'", (False, "")),
        ("exit 1", (False, "")),
        ("/no/such/program", (False, "")),
        ("kill -9 $$", (False, "")),
        ("exec 0<&-; exit 0", (False, "")),
    ],
)
async def test_only_a_clear_no_blocks(command: str, expected: tuple[bool, str], tmp_path: Path) -> None:
    assert await blocked_by(command, tmp_path) == expected


async def test_a_hook_in_a_missing_folder_stops_nothing(tmp_path: Path) -> None:
    assert await blocked_by("exit 2", tmp_path / "gone") == (False, "")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return not Path("/proc").exists() or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # the second one when it goes between the two looks
        return False


async def until_gone(pid: int) -> bool:
    end = time.monotonic() + 60
    while alive(pid) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return not alive(pid)


async def test_a_slow_hook_is_ended_with_its_children_and_allows(tmp_path: Path) -> None:
    child = tmp_path / "child"
    for seconds in (0.5, 5, 50):  # a busy machine needs longer to get to the child
        result = await run_hook(f"sleep 600 & echo $! > {child}; wait", {}, timeout=seconds, cwd=tmp_path)
        assert (result.blocked, result.timed_out) == (False, True)
        if child.exists() and child.read_text():
            break
    assert await until_gone(int(child.read_text()))


async def test_cancelling_ends_the_hook_too(tmp_path: Path) -> None:
    task = asyncio.create_task(run_hook("echo $$ > self; sleep 600", {}, cwd=tmp_path))
    while not (tmp_path / "self").exists() or not (tmp_path / "self").read_text().strip():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await until_gone(int((tmp_path / "self").read_text()))


async def test_cancelling_a_hook_that_is_just_being_started_leaves_nothing_behind(tmp_path: Path) -> None:
    for turns in range(8):
        child = tmp_path / f"child-{turns}"
        task = asyncio.create_task(run_hook(f"echo $$ > {child}; sleep 600", {}, cwd=tmp_path))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(60):
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not child.exists() or not child.read_text() or await until_gone(int(child.read_text()))


async def test_the_matcher_decides_whom_an_event_concerns(tmp_path: Path) -> None:
    hooks = Hooks(
        [
            HookDef("PreToolUse", "exit 2", matcher="^(Write|StrReplace)File$"),
            HookDef("PreToolUse", "exit 2", matcher="(broken"),
            HookDef("PostToolUse", "exit 2"),
        ],
        work_dir=tmp_path,
    )
    assert (await hooks.trigger("PreToolUse", "Shell")).ran == 0
    verdict = await hooks.trigger("PreToolUse", "WriteFile")
    assert (verdict.blocked, verdict.ran) == (True, 1)


async def test_one_no_is_enough_and_equal_commands_run_once(tmp_path: Path) -> None:
    twice = HookDef("Stop", "echo x >> ran")
    hooks = Hooks([twice, twice, HookDef("Stop", "echo go on >&2; exit 2")], work_dir=tmp_path)
    verdict = await hooks.trigger("Stop")
    assert (verdict.blocked, verdict.reason, verdict.ran) == (True, "go on", 2)
    assert (tmp_path / "ran").read_text() == "x\n"


async def test_a_fired_hook_runs_in_the_background_and_is_waited_for_at_the_end(tmp_path: Path) -> None:
    hooks = Hooks([HookDef("PostCompact", "cat > done.json")], work_dir=tmp_path)
    hooks.fire("PostCompact", "auto", tokens=9)
    await hooks.finish()
    body: dict[str, Any] = json.loads((tmp_path / "done.json").read_text())
    assert body["tokens"] == 9
