"""The machine as the product uses it, and a program that can be killed with its tasks alive."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from kimi_tui.background import Host, Tasks
from kimi_tui.tools.command import shell_argv
from kimi_tui.tools.environment import command_environment
from kimi_tui.tools.processes import MARK, end

HOST = Host(shell_argv, command_environment, MARK, end)


async def _start_and_hang(folder: Path, commands: list[str]) -> None:
    tasks = Tasks(folder, HOST)
    for command in commands:
        view = await tasks.start(command, folder)
        print(view.id, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_start_and_hang(Path(sys.argv[1]), sys.argv[2:]))
