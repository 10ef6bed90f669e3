"""`python -m benchmarks.gaps [--megabytes 30]`: how long the event loop stands still while a long session is worked on.

A real agent with a replayed model opens the session, takes turns of ten calls a step, jumps back and forth and drops
a result; a heartbeat on its loop measures the gaps. With `--where`, a thread notes what the loop was busy with.
The last table is the program's own time for a step: from the model's last piece to the next request, tools included.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import gc
import json
import os
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import AsyncIterator
from pathlib import Path

from benchmarks.generate import write_session
from kimi_tui.bootstrap import connect
from kimi_tui.cli.pace import TURN, keep_pace
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.ports import AgentPort

BEAT = 0.001
STALE = 0.008
"""Seconds without a heartbeat after which the watching thread looks where the loop is."""


class Heart:
    """Beats on the loop; remembers the longest pause since it was last asked."""

    def __init__(self, where: bool) -> None:
        self.last = time.perf_counter()
        self.longest = 0.0
        self.places: collections.Counter[str] = collections.Counter()
        self._thread = threading.get_ident()
        if where:
            threading.Thread(target=self._watch, daemon=True).start()

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            now = time.perf_counter()
            self.longest = max(self.longest, now - self.last - BEAT)
            self.last = now

    def take(self) -> float:
        longest, self.longest = self.longest, 0.0
        return longest

    def _watch(self) -> None:
        while True:
            time.sleep(0.002)
            if time.perf_counter() - self.last > STALE:
                stack = traceback.extract_stack(sys._current_frames()[self._thread])
                ours = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in stack if "kimi_tui" in f.filename]
                self.places[" < ".join(reversed(ours[-3:]))] += 1


class Player:
    """Gives commands to an agent and waits for what they lead to."""

    def __init__(self, agent: AgentPort) -> None:
        self.agent = agent
        self._seen: asyncio.Queue[ev.Event] = asyncio.Queue()

    async def listen(self) -> None:
        async for event in self.agent.events():
            self._seen.put_nowait(event)

    async def until(self, *kinds: type[ev.Event]) -> None:
        while not isinstance(await self._seen.get(), kinds):
            pass

    async def do(self, command: cmd.Command, *kinds: type[ev.Event]) -> None:
        self.agent.submit(command)
        await self.until(*kinds)
        await asyncio.sleep(0.2)  # the activity ends right after it has told of its end


def script(folder: Path, steps: int) -> Path:
    """`steps` answers that call ten tools each, then one that ends the turn; and so on."""
    names = [{"name": "Think", "args": {"thought": f"number {number}"}} for number in range(10)]
    replies = [*({"tools": [{**name, "id": f"b{step}_{n}"} for n, name in enumerate(names)]} for step in range(steps))]
    file = folder / "script.json"
    file.write_text(json.dumps({"replies": [*replies, {"text": "done"}], "loop": True, "window": 10**9}))
    return file


@contextlib.asynccontextmanager
async def player(folder: Path, steps: int) -> AsyncIterator[Player]:
    options = LaunchOptions(work_dir=folder, session=folder / "s", model=f"replay:{script(folder, steps)}", yolo=True)
    playing = Player(await connect(options))
    tasks = [asyncio.ensure_future(playing.listen()), asyncio.ensure_future(playing.agent.run())]
    yield playing
    playing.agent.submit(cmd.Close())
    await asyncio.gather(*tasks)


async def measure(folder: Path, steps: int, heart: Heart) -> None:
    beating = asyncio.ensure_future(heart.beat())
    await asyncio.sleep(0.1)
    heart.take()
    await asyncio.sleep(1.0)
    report("nothing at all, for a second", heart)
    async with player(folder, steps) as playing:
        await playing.until(ev.ModelReady)
        report("open", heart)
        gc.freeze()  # as the app does
        await playing.do(cmd.SendPrompt("go on"), ev.StepEnded)
        report("the first step, with what it loads", heart)
        await playing.until(ev.TurnEnded)
        await asyncio.sleep(0.2)
        heart.take()
        began = time.perf_counter()
        await playing.do(cmd.SendPrompt("go on"), ev.TurnEnded)
        each = (time.perf_counter() - began) / (steps + 1)
        report(f"a turn of {steps} steps, {each * 1e3:.1f} ms each", heart)
        await playing.do(cmd.RevertTo(5), ev.TranscriptReset)
        report("go back to checkpoint 5", heart)
        await playing.do(cmd.Undo(), ev.TranscriptReset)
        report("undo", heart)
        await playing.do(cmd.MeasureContext(), ev.ContextMeasured)
        report("measure the context", heart)
        await playing.do(cmd.DropResult(3), ev.TranscriptReset, ev.Noticed)
        report("drop a result", heart)
    beating.cancel()


def report(what: str, heart: Heart) -> None:
    print(f"{what:<44}{heart.take() * 1e3:>8.1f} ms", flush=True)
    for place, count in heart.places.most_common(4):
        print(f"    {count:>3} {place}")
    heart.places.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=15)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--where", action="store_true")
    parser.add_argument(
        "--switch", type=float, default=TURN * 1e3, help="milliseconds that a thread may keep the interpreter"
    )
    given = parser.parse_args()
    keep_pace()
    sys.setswitchinterval(given.switch / 1e3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["KIMI_TUI_HOME"] = str(folder / "home")
        (folder / "s").mkdir()
        count = write_session(folder / "s" / "context.jsonl", int(given.megabytes * 1e6))
        print(f"{count} records")
        asyncio.run(measure(folder, given.steps, Heart(given.where)))


if __name__ == "__main__":
    main()
