"""`python -m benchmarks.keys [--tokens 20000] [--rate 200] [--megabytes 0]`: how long a key takes to its echo.

The program itself in a pseudo-terminal, with a replayed model. A key's echo is its letter in what is written to the
terminal; only letters that stand nowhere else are pressed. Told for the idle screen, while an answer streams and
while a tool runs, each with the share of one processor that the program takes, the frames a second and the bytes a
second, and the load of the machine, without which none of them means anything.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.generate import prose, write_session

LETTERS = "абвгдежзиклмнопрстуфхцчшщъыьэюяαβγδεζηθικλμνξπρστυφχψω"
FRAME = b"\x1b[?2026h"
"""How a frame begins for a terminal that has said that it can take one as a whole."""
ASKS_FOR_FRAMES = b"\x1b[?2026$p"
TAKES_FRAMES = b"\x1b[?2026;2$y"
TICKS = os.sysconf("SC_CLK_TCK")
SLOWEST = 10.0
"""Seconds after which a key is counted as lost."""


@dataclass
class Terminal:
    """What is on the other side of the program: reads all it writes, answers what it asks."""

    fd: int
    pid: int
    seen: bytearray = field(default_factory=bytearray)
    frames: int = 0
    written: int = 0

    def read(self, wait: float) -> bool:
        """Whether anything came within so many seconds."""
        if not select.select([self.fd], [], [], max(0.0, wait))[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            raise SystemExit(self.seen.decode(errors="replace")[-500:]) from None
        if ASKS_FOR_FRAMES in data:
            os.write(self.fd, TAKES_FRAMES)
        self.frames += data.count(FRAME)
        self.written += len(data)
        self.seen += data
        del self.seen[: -(1 << 17)]
        return True

    def until(self, wanted: bytes, wait: float = 60.0) -> float | None:
        """Seconds until something is written; None when it is not."""
        began = time.perf_counter()
        while (left := began + wait - time.perf_counter()) > 0:
            self.read(left)
            if wanted in self.seen:
                return time.perf_counter() - began
        return None

    def rest(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def quiet(self, seconds: float = 1.0) -> None:
        """Until nothing has been written for a while."""
        while self.read(seconds):
            pass

    def press(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def key(self, letter: str) -> float | None:
        self.seen.clear()
        self.press(letter)
        return self.until(letter.encode(), SLOWEST)

    def processor(self) -> float:
        """Seconds that the program and what it has started have taken."""
        return sum(_taken(pid) for pid in family(self.pid))


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found += family(int(child))
    return found


def _taken(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def answer(tokens: int) -> str:
    """Prose, lists, code and a table, about so many tokens; none of the letters that are pressed."""
    rng = random.Random(11)
    parts: list[str] = []
    size = 0
    while size < tokens * 4:
        table = "| name | what | count |\n|---|---|---:|\n" + "".join(
            f"| `part_{number}` | {prose(rng, 40)} | {rng.randrange(900)} |\n" for number in range(rng.randrange(4, 90))
        )
        listed = "".join(f"- **{prose(rng, 20)}**: {prose(rng, 120)}\n" for _ in range(rng.randrange(3, 20)))
        code = (
            "```python\n"
            + "for index in range(9):\n    total += values[index]  # sum\n" * rng.randrange(2, 40)
            + "```\n"
        )
        part = rng.choice((f"## {prose(rng, 30)}\n\n{prose(rng, 600)}\n\n", listed + "\n", code + "\n", table + "\n"))
        parts.append(part)
        size += len(part)
    return "".join(parts)[: tokens * 4]


def script(folder: Path, tokens: int, rate: float) -> Path:
    """One long answer, then a tool that runs for a while."""
    sleep = {"name": "Shell", "args": {"command": "sleep 600", "timeout": 900}, "id": "sleep"}
    replies = [
        {"text": answer(tokens), "chunk": 8, "delay_ms": 2000 / rate, "usage": None},
        {"tools": [sleep]},
        {"text": "done"},
    ]
    file = folder / "script.json"
    file.write_text(json.dumps({"replies": replies, "window": 10**9}), encoding="utf-8")
    return file


@contextlib.contextmanager
def program(folder: Path, model: Path, size: tuple[int, int]) -> Iterator[Terminal]:
    arguments = ["-m", "kimi_tui", "-m", f"replay:{model}", "-w", str(folder), "--yolo"]
    arguments += ["-S", str(folder / "s")] if (folder / "s").exists() else []
    variables = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "KIMI_TUI_HOME": str(folder / "home")}
    with opened([sys.executable, *arguments], variables, Path.cwd(), size) as (fd, pid):
        yield Terminal(fd, pid)


@contextlib.contextmanager
def opened(
    arguments: Sequence[str], variables: Mapping[str, str], folder: Path, size: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """A program in a pseudo-terminal: the other end of it, and its process."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update({"PYTHONPATH": str(Path.cwd()), **variables})
        os.environ.pop("TMUX", None)
        os.chdir(folder)
        os.execvp(arguments[0], arguments)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    try:
        yield fd, pid
    finally:
        os.kill(pid, signal.SIGTERM)
        with contextlib.suppress(OSError):
            while os.read(fd, 1 << 16):
                pass
        os.waitpid(pid, 0)
        os.close(fd)


def measure(what: str, terminal: Terminal, keys: int, pause: float, rng: random.Random, still: float = 0.0) -> None:
    """Press keys with uneven pauses between them and tell what came of it; then none for `still` seconds."""
    taken: list[float] = []
    lost = 0
    frames, written, began = terminal.frames, terminal.written, time.perf_counter()
    for number in range(keys):
        if number and number % len(LETTERS) == 0:
            terminal.press("\x15")
            terminal.rest(0.3)
        echo = terminal.key(LETTERS[number % len(LETTERS)])
        taken += [echo] if echo is not None else []
        lost += echo is None
        terminal.rest(rng.uniform(0.5, 1.5) * pause)
    terminal.press("\x15")
    terminal.rest(0.3)
    seconds = time.perf_counter() - began
    rates = (
        f"{(terminal.frames - frames) / seconds:5.1f} frames/s {(terminal.written - written) / seconds / 1e3:6.1f} KB/s"
    )
    print(f"{what:<28}{told(taken)}   {rates}   lost {lost}   load {os.getloadavg()[0]:.2f}", flush=True)
    if still:
        began, before = time.perf_counter(), terminal.processor()
        terminal.rest(still)
        share = (terminal.processor() - before) / (time.perf_counter() - began)
        print(
            f"{'  processor, no keys':<28}{share:6.1%} over {still:.0f} s   load {os.getloadavg()[0]:.2f}", flush=True
        )


def told(taken: list[float]) -> str:
    if len(taken) < 2:
        return "no keys"
    cuts = statistics.quantiles(taken, n=100, method="inclusive")
    p50, p95, most = cuts[49] * 1e3, cuts[94] * 1e3, max(taken) * 1e3
    return f"p50 {p50:6.1f}  p95 {p95:6.1f}  max {most:6.1f} ms of {len(taken):3} keys"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=200.0, help="tokens a second")
    parser.add_argument("--megabytes", type=float, default=0, help="of the session that is open")
    parser.add_argument("--keys", type=int, default=50, help="pressed on the idle screen")
    parser.add_argument("--pause", type=float, default=0.25, help="seconds between two keys")
    parser.add_argument("--still", type=float, default=20.0, help="seconds without keys, for the processor's share")
    parser.add_argument("--size", default="120x36")
    given = parser.parse_args()
    width, height = (int(part) for part in given.size.split("x"))
    rng = random.Random(5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.megabytes:
            (folder / "s").mkdir()
            write_session(folder / "s" / "context.jsonl", int(given.megabytes * 1e6))
        with program(folder, script(folder, given.tokens, given.rate), (width, height)) as terminal:
            terminal.until(b"commands")
            terminal.quiet()
            measure("idle", terminal, given.keys, given.pause, rng, given.still)
            terminal.press("go on\r")
            terminal.until(b"answering")
            terminal.rest(1.0)
            seconds = given.tokens / given.rate
            parts = 3
            for part in range(parts):
                keys = int((seconds - 10) / parts / (given.pause + 0.05))
                measure(f"streaming, part {part + 1} of {parts}", terminal, keys, given.pause, rng, 2.0)
            terminal.until(b"commands", 3 * seconds)
            terminal.quiet()
            terminal.press("go on\r")
            terminal.until(b"sleep 600")
            terminal.rest(1.0)
            measure("a tool runs", terminal, given.keys // 2, given.pause, rng, given.still)


if __name__ == "__main__":
    main()
