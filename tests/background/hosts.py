"""The machine as the product uses it, and a program that can be killed with its tasks alive."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from kimi_tui.background import Host, Tasks
from kimi_tui.background.identity import birth
from kimi_tui.tools.command import shell_argv
from kimi_tui.tools.environment import command_environment
from kimi_tui.tools.processes import MARK
from kimi_tui.tools.processes import end as end_family

HOST = Host(shell_argv, command_environment, MARK, end_family)


async def gone(*pids: int | None) -> bool:
    """They would run for a minute and longer; a busy kernel takes its time to end what was killed."""
    end = time.monotonic() + 60
    while any(birth(pid) for pid in pids if pid) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return all(pids) and not any(birth(pid) for pid in pids if pid)


async def _start_and_hang(folder: Path, commands: list[str]) -> None:
    tasks = Tasks(folder, HOST)
    for command in commands:
        view = await tasks.start(command, folder)
        print(view.id, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_start_and_hang(Path(sys.argv[1]), sys.argv[2:]))
