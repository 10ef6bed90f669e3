"""How long snapshots of a work tree take. `python benchmarks/snapshots.py [FILES]`, 20,000 by default."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from kimi_tui.session.snapshots import Snapshot, Snapshots, Stretch

T = TypeVar("T")


def grow(root: Path, files: int) -> None:
    for number in range(files):
        folder = root / f"pack{number // 2000}" / f"part{number // 50}"
        if number % 50 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}.py").write_text(f"# file {number}\n" + "value = 1\n" * (number % 90))


async def timed(what: str, work: Awaitable[T]) -> T:
    begun = time.perf_counter()
    result = await work
    print(f"{what:<44} {(time.perf_counter() - begun) * 1000:9.0f} ms")
    return result


async def taken(what: str, snapshots: Snapshots) -> Snapshot:
    found = await timed(what, snapshots.take())
    assert found is not None, snapshots.off
    return found


async def measure(root: Path, files: int) -> None:
    work = root / "work"
    work.mkdir()
    grow(work, files)
    snapshots = Snapshots(work)
    await taken(f"first snapshot of {files:,} files", snapshots)
    for _ in range(3):
        first = await taken("nothing changed", snapshots)
    (work / "pack0" / "part0" / "file1.py").write_text("changed\n")
    (work / "pack1" / "new.py").write_text("new\n")
    last = await taken("two files changed", snapshots)
    await timed("preview of going back", snapshots.touched([Stretch(first.id, last.id)]))
    await timed("going back", snapshots.take_back([Stretch(first.id, last.id)]))
    await taken("nothing changed, another process", Snapshots(work))
    store = sum(path.stat().st_size for path in (root / "home").rglob("*") if path.is_file())
    tree = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    print(f"the tree holds {tree / 1e6:.1f} MB, its snapshots {store / 1e6:.1f} MB")


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KIMI_TUI_HOME"] = str(Path(folder) / "home")
        asyncio.run(measure(Path(folder), files))


if __name__ == "__main__":
    main()
