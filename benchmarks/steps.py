"""`python -m benchmarks.steps [--tool ReadFile] [--calls 10] [--steps 40] [--megabytes 0] [--server]`: a step's cost.

A real agent takes a turn whose every step calls the same number of tools. Each millisecond of a step belongs to one of

    model   waiting for the answer: from the request to its last piece
    sync    waiting until the disk has written what must survive a power cut
    files   recording the work tree before a tool that may change it
    tools   the calls themselves, from the start of the first to the end of the last
    ours    all the rest

and beside them stand the processor time of the loop's thread and the longest time that it stood still. With `--server`
the model is a server that answers at once, reached as a provider is: what it sees between an answer and the next
request is all that this program adds to a step.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import gc
import json
import os
import pstats
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.answering import GAPS, answering
from benchmarks.gaps import Heart
from benchmarks.generate import write_session
from kimi_tui.agent.agent import Agent
from kimi_tui.agent.travel.files import Files
from kimi_tui.bootstrap import connect
from kimi_tui.cli.pace import keep_pace
from kimi_tui.context.disk import Disk
from kimi_tui.llm.model import ChatModel, Piece, Report, Request
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import ModelView
from kimi_tui.tools.base import Call, Tool, ToolResult

PARTS = ("model", "sync", "files", "tools")


@dataclass
class Clock:
    """Where the time of the running step went. Parts that overlap count once, for the part that began first."""

    spans: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {part: [] for part in PARTS})

    @contextlib.contextmanager
    def of(self, part: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spans[part].append((began, time.perf_counter()))

    def take(self) -> dict[str, float]:
        """Seconds by part, each moment counted once; then start over."""
        taken: dict[str, float] = {}
        seen: list[tuple[float, float]] = []
        for part in PARTS:
            before = _length(seen)
            seen = _union([*seen, *self.spans[part]])
            taken[part] = _length(seen) - before
            self.spans[part] = []
        return taken


def _union(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for start, stop in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found


def _length(spans: list[tuple[float, float]]) -> float:
    return sum(stop - start for start, stop in spans)


class TimedModel:
    """A model, with the time that is spent waiting for it."""

    def __init__(self, model: ChatModel, clock: Clock) -> None:
        self._model, self._clock = model, clock

    @property
    def view(self) -> ModelView:
        return self._model.view

    async def prepare(self, report: Report) -> None:
        await self._model.prepare(report)

    async def warm(self, request: Request, report: Report) -> None:
        await self._model.warm(request, report)

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        pieces = aiter(self._model.stream(request))
        while True:
            with self._clock.of("model"):
                piece = await anext(pieces, None)
            if piece is None:
                return
            yield piece

    async def close(self) -> None:
        await self._model.close()


class TimedTool:
    """A tool, with the time that its calls take."""

    parallel = False

    def __init__(self, tool: Tool, clock: Clock) -> None:
        self._tool, self._clock = tool, clock
        self.name, self.read_only, self.plan_safe = tool.name, tool.read_only, tool.plan_safe
        self.Params, self.description, self.describe = tool.Params, tool.description, tool.describe

    async def __call__(self, params: Any, call: Call) -> ToolResult:
        with self._clock.of("tools"):
            return await self._tool(params, call)


def watch(agent: Any, clock: Clock) -> None:
    """Put clocks around everything that is not ours."""
    desk = agent.desk
    desk.model = TimedModel(desk.model, clock)
    for tool in desk.toolset.tools():
        desk.toolset.add(TimedTool(tool, clock))  # type: ignore[arg-type]  # its names are not class variables
    sync, before_change = Disk.sync, Files.before_change

    def timed_sync(disk: Disk, fd: int) -> None:
        with clock.of("sync"):
            sync(disk, fd)

    async def timed_before(files: Files, mark: Any) -> None:
        with clock.of("files"):
            await before_change(files, mark)

    Disk.sync, Files.before_change = timed_sync, timed_before  # type: ignore[method-assign]


ARGUMENTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "Think": lambda number: {"thought": f"number {number}"},
    "ReadFile": lambda number: {"path": f"file{number % 10}.txt", "line_offset": 1 + number // 10, "n_lines": 40},
    "Big": lambda number: {"path": "big.txt", "line_offset": 1 + number},
    "WriteFile": lambda number: {"path": f"file{number % 10}.txt", "content": f"{number}\n" * 200},
    "Shell": lambda number: {"command": f"echo {number}"},
    "Grep": lambda number: {"pattern": f"line {number}"},
}


TOOLS = {"Big": "ReadFile"}
"""`Big` reads as much as a result may hold."""


def replies(tool: str, calls: int, steps: int) -> list[dict[str, Any]]:
    numbers = iter(range(calls * steps))
    made: list[dict[str, Any]] = [
        {
            "tools": [
                {"name": TOOLS.get(tool, tool), "args": ARGUMENTS[tool](next(numbers)), "id": f"s{step}c{n}"}
                for n in range(calls)
            ]
        }
        for step in range(steps)
    ]
    return [*made, {"text": "done"}]


@contextlib.asynccontextmanager
async def model_options(given: argparse.Namespace, folder: Path, script: Path) -> AsyncIterator[dict[str, Any]]:
    if not given.server:
        yield {"model": f"replay:{script}"}
        return
    async with answering(script) as base:
        os.environ["OPENAI_API_KEY"] = "none"
        yield {"model": "openai/scripted", "api_base": base, "context_window": 10**9}


async def measure(given: argparse.Namespace, folder: Path) -> None:
    work, session = folder / "work", folder / "session"
    work.mkdir()
    session.mkdir()
    (session / "context.jsonl").touch()
    for number in range(10):
        (work / f"file{number}.txt").write_text("".join(f"line {n} of many\n" for n in range(400)))
    (work / "big.txt").write_text(
        "".join(f"line {n} of very many lines, each of them long enough\n" for n in range(9000))
    )
    if given.megabytes:
        write_session(session / "context.jsonl", int(given.megabytes * 1e6))
    script = folder / "script.json"
    made = [{"hang": given.think, **reply} for reply in replies(given.tool, given.calls, given.steps)]
    script.write_text(json.dumps({"replies": [*made, *made], "chunk": 10**6, "window": 10**9}))
    async with model_options(given, folder, script) as model:
        agent = await connect(LaunchOptions(work_dir=work, session=session, yolo=True, **model))
        assert isinstance(agent, Agent)
        clock, heart = Clock(), Heart(where=given.where)
        watch(agent, clock)
        beating, running = asyncio.ensure_future(heart.beat()), asyncio.ensure_future(agent.run())
        profile = cProfile.Profile() if given.profile else None
        await turns(agent, clock, heart, profile)
        agent.submit(cmd.Close())
        await running
        beating.cancel()
        if given.server:
            gaps = [gap * 1e3 for gap in json.loads(script.with_name(GAPS).read_text())[given.steps + 3 :]]
            print(f"seen by the server: {statistics.median(gaps):.2f} ms between an answer and the next request")
    if profile is not None:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


async def turns(agent: Agent, clock: Clock, heart: Heart, profile: cProfile.Profile | None) -> None:
    """One turn to load everything, one that counts."""
    turn, rows, began = 0, list[dict[str, float]](), dict[str, float]()
    async for event in agent.events():
        match event:
            case ev.TurnEnded() if turn == 2:
                break
            case ev.TurnEnded() | ev.ModelReady() if turn < 1 or isinstance(event, ev.TurnEnded):
                turn += 1
                gc.freeze()  # as the app does
                agent.submit(cmd.SendPrompt("go on"))
                if profile is not None and turn == 2:
                    profile.enable()
            case ev.StepStarted(number):
                now = {"whole": time.perf_counter(), "cpu": time.thread_time()}
                spent = clock.take() | {"longest": heart.take()}
                if turn == 2 and number > 2:
                    rows.append({name: now[name] - began[name] for name in now} | spent)
                began = now
    if profile is not None:
        profile.disable()
    tell(rows, heart)


def tell(rows: list[dict[str, float]], heart: Heart) -> None:
    for row in rows:
        row["ours"] = row["whole"] - sum(row[part] for part in PARTS)
    for name in ("whole", *PARTS, "ours", "cpu", "longest"):
        values = sorted(row[name] * 1e3 for row in rows)
        print(f"{name:<8}{statistics.median(values):8.2f} ms   best {values[0]:8.2f}   worst {values[-1]:8.2f}")
    for place, count in heart.places.most_common(6):
        print(f"    {count:>3} {place}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="ReadFile", choices=sorted(ARGUMENTS))
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--megabytes", type=float, default=0, help="size of the session to begin with")
    parser.add_argument("--think", type=float, default=0, help="seconds that the model takes before it answers")
    parser.add_argument("--server", action="store_true", help="a scripted server, reached as a provider is")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--where", action="store_true", help="what the loop was busy with when it stood still")
    given = parser.parse_args()
    keep_pace()
    with tempfile.TemporaryDirectory() as name:
        os.environ["KIMI_TUI_HOME"] = str(Path(name) / "home")
        asyncio.run(measure(given, Path(name)))


if __name__ == "__main__":
    main()
