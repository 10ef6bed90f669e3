"""Ends the running commands of a program that was killed. Run by its path, with nothing but the standard library.

Its standard input is a pipe from the program, which the system closes when the program is gone, however it went. Until
then, each line tells of one command: `<mark>` that it is about to start, `<mark> <pid>` that it runs, `<mark> -` that
it has ended; what it left running in the background on purpose is then its own.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


def still_running(lines: Iterable[str]) -> dict[str, int | None]:
    """Marks of the commands that had not ended when the lines did, and who leads them, where that was told."""
    running: dict[str, int | None] = {}
    for line in lines:
        mark, _, told = line.strip().partition(" ")
        if told == "-":
            running.pop(mark, None)
        elif mark:
            running[mark] = int(told) if told.isdigit() else None
    return running


def processes() -> ModuleType:
    """The module beside this one, read only when there is something to end."""
    spec = importlib.util.spec_from_file_location("processes", Path(__file__).with_name("processes.py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules["processes"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def end_all(running: dict[str, int | None]) -> None:
    """Politely, then by force, all at the same time."""
    ending = processes()
    leaders = {mark: leader or _found(ending, mark) for mark, leader in running.items()}
    await asyncio.gather(*(ending.end(leader, mark) for mark, leader in leaders.items() if leader))


def _found(ending: ModuleType, mark: str) -> int | None:
    """Killed before it could tell who: one of those that carry the mark stands for all of them."""
    return next((each.pid for each in ending.family(_NOBODY, mark)), None)


_NOBODY = -1
"""Leads no group."""


if __name__ == "__main__":
    left = still_running(sys.stdin)
    if left:
        asyncio.run(end_all(left))
