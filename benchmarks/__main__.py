"""`python -m benchmarks [--sizes 1,10,100] [--rounds 3] [--install-peer]`: one table of ratios.

Every figure is a median over fresh processes; the two engines take turns (ABBA), so that a busy machine slows both.
Trust the ratios, not the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks import peer
from benchmarks.generate import write_session
from benchmarks.worker import MEASURES

WORKER = Path(__file__).with_name("worker.py")
ROOT = Path(__file__).parent.parent
ONCE = {"step", "step + fdatasync"}
"""Do not depend on the size of the session."""


def measure(python: Path, engine: str, what: str, session: Path) -> float:
    with tempfile.TemporaryDirectory(dir=session.parent) as folder:
        file = Path(folder) / "context.jsonl"
        shutil.copyfile(session, file)
        done = subprocess.run(
            [python, WORKER, engine, what, file],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT) if engine == "ours" else ""},
        )
    if done.returncode:
        raise SystemExit(f"{engine}, {what}: {done.stderr.strip().splitlines()[-1]}")
    result = json.loads(done.stdout)
    return float(result.get("seconds", result.get("bytes")))


def rounds(engines: dict[str, Path], what: str, session: Path, count: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {engine: [] for engine in engines}
    for number in range(count):
        for engine in list(engines) if number % 2 == 0 else list(engines)[::-1]:
            taken[engine].append(measure(engines[engine], engine, what, session))
    return {engine: statistics.median(values) for engine, values in taken.items()}


def shown(what: str, value: float) -> str:
    if what == "memory":
        return f"{value / 1e6:9.1f} MB"
    return f"{value * 1e3:9.2f} ms" if value < 10 else f"{value:9.1f} s "


def table(engines: dict[str, Path], sizes: Iterable[int], whats: Iterable[str], count: int, folder: Path) -> None:
    print(f"{'size':>7}  {'what':<20}" + "".join(f"{engine:>13}" for engine in engines) + "    ratio")
    first = True
    for size in sizes:
        session = folder / f"{size}.jsonl"
        write_session(session, size << 20)
        for what in whats:
            if what in ONCE and not first:
                continue
            found = rounds(engines, what, session, count)
            ratio = f"{found['peer'] / max(found['ours'], 1e-9):8.1f}x" if "peer" in found else ""
            print(f"{size:4} MB  {what:<20}" + "".join(f"{shown(what, value):>13}" for value in found.values()) + ratio)
            sys.stdout.flush()
        session.unlink()
        first = False


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", default="1,10,100", help="megabytes, with commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--what", default=",".join(MEASURES), help="measures, with commas")
    parser.add_argument("--install-peer", action="store_true", help="install kimi-cli into .venv-peer first")
    chosen = parser.parse_args()
    other = (peer.install() if chosen.install_peer else None) or peer.find()
    engines = {"peer": other} if other else {}
    if not other:
        print("kimi-cli is not here (set KIMI_CLI_PYTHON or pass --install-peer): only this engine is measured.")
    engines["ours"] = Path(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        sizes = [int(size) for size in chosen.sizes.split(",")]
        table(engines, sizes, chosen.what.split(","), chosen.rounds, Path(folder))


if __name__ == "__main__":
    main()
