"""`python -m benchmarks.beside [--kimi PATH] [--vibe PATH]`: this program beside other agents, on the same terminal.

Each runs alone in a pseudo-terminal, in a scratch home, against a local server that streams one endless answer. Told
are the seconds from the start to the first key that is echoed, from a key to its echo (idle, and while the answer
streams), from a paste of 5,000 lines to the echo of the next key, the share of one processor and the memory, its own
and its children's. A key's echo is its letter in what is written to the terminal. PATH is the program's command.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from benchmarks.keys import LETTERS, Terminal, family, opened, told

SIZE = (120, 36)
WORDS = ("omega", "sigma", "token", "value", "stream", "model", "answer", "and", "so", "on")
ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]11;?": b"\x1b]11;rgb:1111/1111/1111\x1b\\",
    b"\x1b]10;?": b"\x1b]10;rgb:dddd/dddd/dddd\x1b\\",
}
"""What programs ask a terminal, and what one says; some wait for it."""
PASTE = "".join(f"line {number} of a long paste\n" for number in range(5_000))


class Program(NamedTuple):
    """How one is started against a server."""

    name: str
    arguments: list[str]
    variables: dict[str, str]


class Asked(Terminal):
    """A terminal that answers."""

    def read(self, wait: float) -> bool:
        before = self.written
        came = super().read(wait)
        fresh = bytes(self.seen[-(self.written - before) :]) if came else b""
        for question, answer in ANSWERS.items():
            if question in fresh:
                os.write(self.fd, answer)
        return came


# --- the programs ------------------------------------------------------------------------------------------------


def ours(home: Path, base: str) -> Program:
    arguments = ["-m", "openai/scripted", "--api-base", base, "--context-window", "200000", "-w", str(home), "--yolo"]
    return Program(
        "kimi-tui",
        [sys.executable, "-m", "kimi_tui", *arguments],
        {"KIMI_TUI_HOME": str(home / "data"), "OPENAI_API_KEY": "x"},
    )


def kimi(command: str, home: Path, base: str) -> Program:
    provider = f'[providers.p]\ntype = "openai_legacy"\nbase_url = "{base}"\napi_key = "x"\n'
    model = '[models.s]\nprovider = "p"\nmodel = "scripted"\nmax_context_size = 200000\n'
    config = home / "kimi.toml"
    config.write_text(f'default_model = "s"\ndefault_thinking = false\n{provider}{model}', encoding="utf-8")
    return Program("kimi-cli", [command, "--config-file", str(config), "-w", str(home), "--yolo"], {"HOME": str(home)})


def vibe(command: str, home: Path, base: str) -> Program:
    provider = f'[[providers]]\nname = "p"\napi_base = "{base}"\napi_key_env_var = "NO_KEY"\nbackend = "generic"\n'
    model = '[[models]]\nname = "scripted"\nprovider = "p"\nalias = "scripted"\nmax_context_length = 200000\n'
    off = 'active_model = "scripted"\nenable_telemetry = false\nenable_update_checks = false\n'
    (home / "config.toml").write_text(off + provider + model, encoding="utf-8")
    return Program(
        "mistral-vibe",
        [command, "--trust", "--yolo", "--workdir", str(home)],
        {"VIBE_HOME": str(home), "NO_KEY": "x", "HOME": str(home)},
    )


# --- the server --------------------------------------------------------------------------------------------------


class Endless(BaseHTTPRequestHandler):
    """Streams words until nobody listens any more, about 180 tokens a second."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        rng = random.Random(1)
        with contextlib.suppress(OSError):
            for number in range(40_000):
                text = " ".join(rng.choice(WORDS) for _ in range(3)) + ("\n\n" if number % 20 == 19 else " ")
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
                choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
                self.wfile.write(b"data: %s\n\n" % json.dumps({**chunk, "choices": [choice]}).encode())
                time.sleep(0.018)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Not a word."""


@contextlib.contextmanager
def server() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    serving.daemon_threads = True
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{serving.server_port}/v1"
    finally:
        serving.shutdown()


# --- measuring ---------------------------------------------------------------------------------------------------


def first_key(terminal: Asked) -> float:
    """Presses a letter as soon as the program reads keys itself, until one is echoed."""
    began = time.perf_counter()
    while time.perf_counter() - began < 60:
        if termios.tcgetattr(terminal.fd)[3] & (termios.ECHO | termios.ICANON):
            terminal.read(0.02)
            continue
        terminal.press(LETTERS[0])
        if terminal.until(LETTERS[0].encode(), 0.06) is not None:
            break
    return time.perf_counter() - began


def echoes(terminal: Asked, count: int, rng: random.Random) -> str:
    taken = []
    for number in range(count):
        echo = terminal.key(LETTERS[1 + number % (len(LETTERS) - 1)])
        taken += [echo] if echo is not None else []
        terminal.rest(rng.uniform(0.06, 0.18))
    empty(terminal)
    return told(taken)


def empty(terminal: Asked) -> None:
    terminal.press("\x15")
    terminal.rest(0.3)


def share(terminal: Asked, seconds: float) -> float:
    before, began = terminal.processor(), time.perf_counter()
    terminal.rest(seconds)
    return (terminal.processor() - before) / (time.perf_counter() - began)


def memory(pid: int) -> float:
    """Megabytes of a process and its children; what they share counts once."""
    lines = (Path(f"/proc/{each}/smaps_rollup").read_text().splitlines() for each in family(pid))
    return sum(int(line.split()[1]) for part in lines for line in part if line.startswith("Pss:")) / 1024


def pasted(terminal: Asked) -> float | None:
    terminal.seen.clear()
    sender = threading.Thread(target=terminal.press, args=(f"\x1b[200~{PASTE}\x1b[201~{LETTERS[-1]}",))
    sender.start()
    taken = terminal.until(LETTERS[-1].encode(), 30)
    sender.join()
    return taken


def measure(program: Program, home: Path) -> None:
    rng = random.Random(4)
    environment = {**program.variables, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with opened(program.arguments, environment, home, SIZE) as (fd, pid):
        terminal = Asked(fd, pid)
        print(f"{program.name}: {first_key(terminal):.2f} s to the first key")
        terminal.rest(4.0)  # not until it is quiet: some never are
        for _ in range(3):
            empty(terminal)
        print(f"  idle       {echoes(terminal, 40, rng)}")
        print(f"             {share(terminal, 10):.1%} of a processor, {memory(pid):.0f} MB")
        taken = pasted(terminal)
        print(f"  paste      {'no echo' if taken is None else f'{taken * 1e3:.0f} ms'}")
        for key in ("\x15", "\x03", "\x15", "say it", "\r"):
            terminal.press(key)
            terminal.rest(0.6)
        terminal.until(WORDS[0].encode(), 30)
        terminal.rest(1.0)
        print(f"  streaming  {echoes(terminal, 40, rng)}")
        print(f"             {share(terminal, 8):.1%} of a processor, {memory(pid):.0f} MB")
        print(f"  load {os.getloadavg()[0]:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kimi", metavar="PATH", help="kimi-cli's command")
    parser.add_argument("--vibe", metavar="PATH", help="mistral-vibe's command")
    given = parser.parse_args()
    with server() as base, tempfile.TemporaryDirectory() as name:
        homes = [Path(name, each) for each in ("ours", "kimi", "vibe")]
        for home in homes:
            home.mkdir()
        programs = [ours(homes[0], base)]
        programs += [kimi(given.kimi, homes[1], base)] if given.kimi else []
        programs += [vibe(given.vibe, homes[2], base)] if given.vibe else []
        for program, home in zip(programs, [homes[0], *homes[1:]][: len(programs)], strict=False):
            measure(program, home)


if __name__ == "__main__":
    main()
