"""Runs one hook: a shell command that reads JSON on stdin and may forbid what is about to happen.

Exit code 2 forbids, with the reason on stderr; so does exit code 0 with `{"decision": "deny"|"block", "reason": …}` or
`{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": …}}` on stdout. Everything else
allows: a hook that fails, cannot be started or takes too long stops nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from kimi_tui.settings import HookEvent

log = logging.getLogger(__name__)

HOOK_EVENTS: tuple[str, ...] = get_args(HookEvent)

_OUTPUT_LIMIT = 64 * 1024
"""Bytes of a hook's output that are read; a hook says yes or no, it does not report."""

BLOCKED = 2


@dataclass(frozen=True, slots=True)
class HookDef:
    """One `[[hooks]]` entry of the config."""

    event: HookEvent
    command: str
    matcher: str = ""
    """Regular expression, searched in what the event is about; empty matches all."""
    timeout: float = 30.0
    """Seconds."""


@dataclass(frozen=True, slots=True)
class HookResult:
    """What one hook decided."""

    blocked: bool = False
    reason: str = ""
    exit_code: int | None = None
    """None when it was not run to its end."""
    timed_out: bool = False


async def run_hook(command: str, payload: dict[str, Any], *, timeout: float = 30.0, cwd: Path) -> HookResult:
    """Run the command in a process group of its own, which a time-out or a cancellation ends whole. Never raises for
    the hook's sake."""
    try:
        process = await _started(command, cwd)
    except OSError as fault:
        log.warning("a hook could not be started: %s", fault)
        return HookResult()
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
    try:
        async with asyncio.timeout(timeout):
            out, err = await _talk(process, body)
            await process.wait()
    except TimeoutError:
        await _end_group(process)
        log.warning("a hook took longer than %s s and was ended", timeout)
        return HookResult(timed_out=True)
    except asyncio.CancelledError:
        await _end_group(process)
        raise
    return verdict(process.returncode or 0, out, err)


async def _started(command: str, cwd: Path) -> asyncio.subprocess.Process:
    """A start is seen through: cancelled halfway, it would wait for as long as the hook's children hold its pipes."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_shell(
            command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):
            await _end_group(await starting)
        raise


def verdict(exit_code: int, out: str, err: str) -> HookResult:
    """What an exit code and an output mean."""
    if exit_code == BLOCKED:
        return HookResult(True, err.strip(), exit_code)
    denied, reason = _denied(out) if exit_code == 0 else (False, "")
    return HookResult(denied, reason, exit_code)


def _denied(out: str) -> tuple[bool, str]:
    try:
        answer = json.loads(out)
    except (ValueError, RecursionError):
        return False, ""
    if not isinstance(answer, dict):
        return False, ""
    if answer.get("decision") in ("deny", "block"):
        return True, str(answer.get("reason") or "")
    inner = answer.get("hookSpecificOutput")
    if isinstance(inner, dict) and inner.get("permissionDecision") == "deny":
        return True, str(inner.get("permissionDecisionReason") or "")
    return False, ""


async def _talk(process: asyncio.subprocess.Process, body: bytes) -> tuple[str, str]:
    out, err, _ = await asyncio.gather(
        _read(cast("asyncio.StreamReader", process.stdout)),
        _read(cast("asyncio.StreamReader", process.stderr)),
        _feed(cast("asyncio.StreamWriter", process.stdin), body),
    )
    return out, err


async def _feed(stdin: asyncio.StreamWriter, body: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        stdin.write(body)
        await stdin.drain()
    stdin.close()  # not waited for: Python 3.11 takes it amiss, once the pipe has closed, if that was cancelled


async def _read(stream: asyncio.StreamReader) -> str:
    kept = b""
    while chunk := await stream.read(8192):
        if len(kept) < _OUTPUT_LIMIT:
            kept += chunk
    return kept[:_OUTPUT_LIMIT].decode("utf-8", "replace")


async def _end_group(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of the hook, children included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()
    await process.wait()
