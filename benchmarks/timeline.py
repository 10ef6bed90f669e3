"""`python -m benchmarks.timeline [--checkpoints 5000]`: the timeline of a long session, in the real app on a terminal.

The app runs in a terminal of its own with a replayed model. Of every act four figures are told: the times from the key
to the first and to the last of what it paints (a preview follows after a rest); the longest stretch for which the app's
loop did nothing else (a heartbeat on it tells), usually and at worst; and the same by the processor time of that loop,
which a busy machine lengthens least. With `--where`, what the loop was busy with then.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kimi_tui.context import Context, Message

ROWS, COLUMNS = 36, 140
BEAT = 0.001
STALE = 0.008
"""Seconds without a beat after which the watching thread looks where the loop is."""
NOTED = 0.002
"""Shorter gaps between two beats are not written down."""
Times = tuple[float, float, float]
Gap = tuple[float, float, float]
"""Between two beats: when it ended, how long it was, how much of that the loop's thread was running."""
QUIET = 0.25
"""Seconds without output after which an act is over."""
JUMPS = 20


# --- the session -------------------------------------------------------------------------------------------------


def write_session(folder: Path, checkpoints: int) -> None:
    """Turns of ten steps, one tool call each; then some jumps, so that branches are there."""
    folder.mkdir()
    with (folder / "context.jsonl").open("w") as file:
        for record in _records(checkpoints):
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
    asyncio.run(_jump_about(folder / "context.jsonl"))


def _records(checkpoints: int) -> Iterator[dict[str, Any]]:
    yield {"role": "_system_prompt", "content": "You are a coding agent."}
    for number in range(checkpoints):
        yield {"role": "_checkpoint", "id": number}
        if number % 10 == 0:
            yield {"role": "user", "content": f"Please do the thing number {number} and say how it went."}
        call = {"name": "ReadFile", "arguments": json.dumps({"path": f"src/part{number}.py"})}
        calls = [{"type": "function", "id": f"c{number}", "function": call}]
        yield {"role": "assistant", "content": f"Reading part {number}.", "tool_calls": calls}
        yield {"role": "_usage", "token_count": 1000 + 60 * number}
        yield {"role": "tool", "content": "value = 1\n" * 12, "tool_call_id": f"c{number}"}


async def _jump_about(file: Path) -> None:
    context = Context(file, clock=time.time)
    await context.restore()
    for number in range(JUMPS):
        await context.revert_to(context.n_checkpoints - 3)
        for step in range(3):
            await context.checkpoint(add_user_message=False)
            await context.append_message(Message(role="user", content=f"Another way {number}, {step}"))
    await context.close()


def write_script(file: Path) -> None:
    calls = [{"tools": [{"name": "Think", "args": {"thought": f"number {number}"}}]} for number in range(40)]
    file.write_text(json.dumps({"replies": [*calls, {"text": "done"}], "loop": True, "window": 10**9}))


# --- the app -----------------------------------------------------------------------------------------------------


def beating(arguments: list[str], log: Path, *, where: bool) -> int:
    """The app with a heartbeat, whose gaps are written to `log` at the end."""
    from kimi_tui.cli.main import run
    from kimi_tui.ui import app as module

    gaps: list[Gap] = []
    places: list[tuple[float, str]] = []
    beat, loop = [time.monotonic()], threading.get_ident()

    class Beating(module.KimiApp):
        def on_ready(self) -> None:
            self.heart = asyncio.ensure_future(self._beat())

        async def _beat(self) -> None:
            last, spent = time.monotonic(), time.thread_time()
            while True:
                await asyncio.sleep(BEAT)
                now, used = time.monotonic(), time.thread_time()
                if now - last - BEAT > NOTED:
                    gaps.append((now, now - last - BEAT, used - spent))
                last, spent = now, used
                beat[0] = now

    def watch() -> None:
        while True:
            time.sleep(0.002)
            if time.monotonic() - beat[0] > STALE:
                stack = traceback.extract_stack(sys._current_frames()[loop])
                named = [f"{Path(frame.filename).stem}:{frame.lineno} {frame.name}" for frame in stack]
                places.append((time.monotonic(), " < ".join(reversed(named[-7:]))))

    if where:
        threading.Thread(target=watch, daemon=True).start()

    module.KimiApp = Beating  # type: ignore[misc]
    try:
        return run(arguments)
    finally:
        log.write_text(json.dumps([gaps, places]))


class Terminal:
    """The app's terminal, seen from outside."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self.fd], [], [], seconds)
        with contextlib.suppress(OSError):
            return os.read(self.fd, 1 << 16) if ready else b""
        return b""

    def until(self, text: bytes, seconds: float = 60.0) -> float:
        """When this was painted."""
        seen, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            seen += self.read(0.5)
            if text in seen:
                return time.monotonic()
        raise SystemExit(f"{text!r} was never painted")

    def settle(self, quiet: float = QUIET) -> float:
        """When the last bytes came."""
        last = time.monotonic()
        while self.read(quiet):
            last = time.monotonic()
        return last

    def press(self, keys: bytes) -> Times:
        """The keys, the first and the last that they paint."""
        began = time.monotonic()
        os.write(self.fd, keys)
        self.read(QUIET)
        first = time.monotonic()
        return began, first, max(first, self.settle())

    def close(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        with contextlib.suppress(OSError):
            while os.read(self.fd, 1 << 16):
                pass
        os.waitpid(self.pid, 0)


# --- the acts ----------------------------------------------------------------------------------------------------

MOVES = {"a row down": b"\x1b[B", "a page down": b"\x1b[6~", "a row up": b"\x1b[A", "a page up": b"\x1b[5~"}

Act = tuple[str, list[Times]]
"""What was done, and from when to when each time."""


def acts(terminal: Terminal, rounds: int) -> Iterator[Act]:
    shown = terminal.until(b"TIMELINE")
    yield "what comes after the first frame", [(shown, shown, terminal.settle(1.0))]
    terminal.settle(3.0)
    now = time.monotonic()
    yield "nothing at all, for a second", [(now, now, now + 1.0)]
    terminal.settle(1.1)
    hidden, opened = [], []
    for _ in range(rounds):
        hidden.append(terminal.press(b"\x02"))
        opened.append(terminal.press(b"\x02"))
    yield "the sidebar closes", hidden
    yield "the sidebar opens", opened
    terminal.press(b"\x14")
    for what, keys in MOVES.items():
        yield what, [terminal.press(keys) for _ in range(rounds)]
    wheel = b"\x1b[<65;%d;10M" % (COLUMNS - 10)
    yield "the wheel, ten notches at once", [terminal.press(wheel * 10) for _ in range(rounds)]
    yield "a search as it is typed: /part42", [terminal.press(key.encode()) for key in "/part42"]
    terminal.press(b"\x1b")
    yield "back to the prompt", [terminal.press(b"\x1b")]
    began = time.monotonic()
    os.write(terminal.fd, b"go on\r")
    end = terminal.settle(2.0)
    seconds = [began + number for number in range(int(end - began) + 1)]
    yield "a turn of 41 steps, second by second", [(each, each, each + 1) for each in seconds]


def report(done: list[Act], gaps: list[Gap], places: list[tuple[float, str]]) -> None:
    print(f"{'milliseconds; median, or median and worst':<50}{'first':>8}{'last':>8}{'gap':>12}{'processor':>14}")
    for what, times in done:
        first = statistics.median(first - began for began, first, _ in times) * 1e3
        last = statistics.median(last - began for began, _, last in times) * 1e3
        within = [[gap for gap in gaps if began <= gap[0] <= end + 0.02] for began, _, end in times]
        worst = [[max((gap[index] for gap in each), default=0.0) * 1e3 for each in within] for index in (1, 2)]
        wall, used = (f"{statistics.median(each):.0f} / {max(each):.0f}" for each in worst)
        print(f"{what:<50}{first:>8.0f}{last:>8.0f}{wall:>12}{used:>14}")
        busy = Counter(place for at, place in places if any(began <= at <= end + 0.02 for began, _, end in times))
        for place, count in busy.most_common(4):
            print(f"    {count:>4} {place}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--where", action="store_true")
    parser.add_argument("--app", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.app:
        sys.exit(beating(given.app[1:], Path(given.app[0]), where=given.where))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_session(folder / "s", given.checkpoints)
        write_script(folder / "script.json")
        app = ["-S", str(folder / "s"), "-w", str(folder), "-m", f"replay:{folder / 'script.json'}", "--yolo"]
        watched = ["--where"] if given.where else []
        command = [sys.executable, "-m", "benchmarks.timeline", *watched, "--app", str(folder / "gaps.json"), *app]
        env = {**os.environ, "KIMI_TUI_HOME": str(folder / "home"), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        print(f"{given.checkpoints} checkpoints, {JUMPS} jumps; load {os.getloadavg()[0]:.1f}")
        terminal = Terminal(command, env)
        try:
            done = list(acts(terminal, given.rounds))
        finally:
            terminal.close()
        report(done, *json.loads((folder / "gaps.json").read_text()))


if __name__ == "__main__":
    main()
