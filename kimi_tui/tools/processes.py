"""The processes that a command started: who they are, and how they end.

A command leads a process group of its own. Children that left it (`setsid`) are found by a mark in their environment
where `/proc` exists, and by their parents.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "KIMI_CALL_MARK"
"""Environment variable that tells a command's children apart."""

TERM_SECONDS = 0.5
"""Time between the polite signal and the other one."""
KILL_SECONDS = 1.0

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Running:
    pid: int
    command: str


def family(leader: int, mark: str, known: Iterable[int] = ()) -> list[Running]:
    """Living processes of the group or session that `leader` led, those that carry the mark, and those that descend
    from any of these or from `known` ones."""
    has_proc = _PROC.joinpath("self/stat").exists()
    kin = {leader, *known}
    return list(_family_by_proc(leader, mark, kin) if has_proc else _family_by_ps(leader, kin))


def _family_by_proc(leader: int, mark: str, kin: set[int]) -> Iterator[Running]:
    wanted = f"{MARK}={mark}".encode()
    parents: dict[int, int] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent, group, session = _stat(entry)
            if state in "ZX":
                continue
            parents[int(entry.name)] = parent
            if leader in (group, session) or wanted in (entry / "environ").read_bytes().split(b"\0"):
                kin.add(int(entry.name))
    for pid in parents:
        if _descends(pid, parents, kin):
            with contextlib.suppress(OSError):
                yield Running(pid, _command_line(_PROC / str(pid)))


def _stat(entry: Path) -> tuple[str, int, int, int]:
    """State, parent, process group and session."""
    state, parent, group, session = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
    return state, int(parent), int(group), int(session)


def _descends(pid: int, parents: Mapping[int, int], kin: Container[int]) -> bool:
    at, steps = pid, len(parents)
    while at not in kin and at in parents and steps:
        at, steps = parents[at], steps - 1
    return at in kin


def _command_line(entry: Path) -> str:
    return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _family_by_ps(leader: int, kin: set[int]) -> Iterator[Running]:
    listing = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid=,stat=,command="], capture_output=True, check=False).stdout
    for line in sorted(listing.decode("utf-8", "replace").splitlines(), key=lambda line: int(line.split()[0])):
        pid, parent, group, state, command = line.split(None, 4)
        if not state.startswith("Z") and (int(group) == leader or {int(pid), int(parent)} & kin):
            kin.add(int(pid))
            yield Running(int(pid), command)


async def end(leader: int, mark: str) -> None:
    """End the whole family: politely first, then by force, until none is left or about 1.5 s are over.

    Cancelling this does not stop it half way: callers shield it.
    """
    known: dict[int, Running] = {}
    await _strike(leader, mark, known, signal.SIGTERM)
    if await _gone(leader, mark, known, TERM_SECONDS):
        return
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        await _strike(leader, mark, known, getattr(signal, "SIGKILL", signal.SIGTERM))
        if await _gone(leader, mark, known, 0.1):
            return


async def _strike(leader: int, mark: str, known: dict[int, Running], number: int) -> None:
    """Look first: once a parent is gone, its children can no longer be told by it."""
    living = await asyncio.to_thread(family, leader, mark, known)
    known.update((process.pid, process) for process in living)
    _signal_group(leader, number)
    _signal(living, number)


async def _gone(leader: int, mark: str, known: dict[int, Running], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    pause = 0.01
    while await asyncio.to_thread(family, leader, mark, known):
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.1)
    return True


def _signal_group(leader: int, number: int) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)


def _signal(processes: Iterable[Running], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)
