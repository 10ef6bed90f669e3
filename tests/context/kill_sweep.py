"""Run by `test_kill_sweep.py`: kills real processes at every system call of every scenario and looks at what is left.

This process stays single-threaded and forks twice for each case: a child that dies in the middle, and a child that
opens the session afterwards as the next start would. Prints one JSON line a scenario.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from kimi_tui.context import Context
from tests.context.faulty_disk import CountingDisk, DyingDisk
from tests.context.scenarios import SCENARIOS, Scenario, all_said_by, litter, said_by, user

TORN = ("append", "batch", "step", "revert", "compaction", "mend")


def in_child(work: Callable[[], Awaitable[None]]) -> int:
    """The exit code: 0 done, 1 failed (told on stderr), else what the work chose."""
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(work())  # type: ignore[arg-type]
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value))


def sweep(scenario: Scenario, root: Path, torn: bool) -> dict[str, object]:
    prepared, finished = root / "prepared", root / "finished"
    in_child(lambda: scenario.prepare(_folder(prepared)))

    async def finish() -> None:
        shutil.copytree(prepared, finished)
        disk = CountingDisk()
        context = await scenario.run(finished / "context.jsonl", disk)
        await context.close()
        write_json(root / "calls", disk.names)
        write_json(root / "after", await all_said_by(finished / "context.jsonl"))
        shutil.copytree(prepared, root / "untouched")
        write_json(root / "before", await all_said_by(root / "untouched" / "context.jsonl"))

    assert in_child(finish) == 0
    names = json.loads((root / "calls").read_text())
    seen = {"before": 0, "after": 0}
    points = [k for k, name in enumerate(names, 1) if not torn or name == "write"]
    for point in points:
        outcome = _case(scenario, root, point, torn)
        seen[outcome] = seen.get(outcome, 0) + 1
    return {"scenario": scenario.name, "torn": torn, "points": len(points), "calls": names, **seen}


def _folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder / "context.jsonl"


def _case(scenario: Scenario, root: Path, point: int, torn: bool) -> str:
    folder = root / f"case-{point}"
    shutil.copytree(root / "prepared", folder)
    path = folder / "context.jsonl"

    async def die() -> None:
        await scenario.run(path, DyingDisk(point, torn=torn))

    async def look() -> None:
        left = json.dumps(await all_said_by(path))
        state = next((name for name in ("after", "before") if left == (root / name).read_text()), "BROKEN")
        if torn and state == "BROKEN" and _between(root, left):
            state = "part"
        if litter(folder):
            state = f"LITTER {litter(folder)}"
        elif state != "BROKEN" and not await _takes_a_message(path):
            state = "GLUED"
        (root / "state").write_text(state)

    assert in_child(die) == 9, f"{scenario.name}: call {point} was not reached"
    assert in_child(look) == 0, f"{scenario.name}: call {point}: the session does not open"
    shutil.rmtree(folder)
    return (root / "state").read_text()


def _between(root: Path, left: str) -> bool:
    """A torn write of several records may leave its first ones: whole, in order, and nothing else."""
    before, messages, after = (
        json.loads(text)[0] for text in ((root / "before").read_text(), left, (root / "after").read_text())
    )
    return len(before) <= len(messages) and after[: len(messages)] == messages


async def _takes_a_message(path: Path) -> bool:
    """The next message survives two more starts."""
    context = Context(path)
    await context.restore()
    count = len(context.history)
    await context.append_message(user("after the crash"))
    await context.close()
    await said_by(path)
    return len((await said_by(path))[0]) == count + 1  # type: ignore[arg-type]


if __name__ == "__main__":
    root = Path(sys.argv[1])
    gc.freeze()  # or every fork copies what its collector touches
    gc.disable()
    for number, scenario in enumerate(SCENARIOS):
        for torn in (False, True) if scenario.name in TORN else (False,):
            print(json.dumps(sweep(scenario, root / f"{number}-{torn}", torn)), flush=True)
