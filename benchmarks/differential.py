"""`python -m benchmarks.differential [--sessions 200] [--mutants 2000] [--seed 1]`: this engine beside kimi-cli's.

The same changes are done by both engines: bytes, messages and counts must be equal, and each must open the other's
file alike. Then healthy files are damaged: whatever kimi-cli still reads of them must be read alike here, and what
stops it from opening must not stop us. Deliberate differences are counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import peer
from benchmarks.generate import prose, write_session
from kimi_tui.context.records import LARGEST, without_surrogates

HERE = Path(__file__).parent
Told = dict[str, Any]


class Actor:
    """One engine in a process of its own."""

    def __init__(self, python: Path, engine: str) -> None:
        self._process = subprocess.Popen(
            [python, HERE / "actor.py", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE.parent) if engine == "ours" else ""},
        )

    def do(self, file: Path, changes: Sequence[Any] = ()) -> Told:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"file": str(file), "changes": list(changes)}) + "\n")
        self._process.stdin.flush()
        answer: Told = without_surrogates(json.loads(self._process.stdout.readline()))
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


def some_message(rng: random.Random) -> dict[str, Any]:
    role = rng.choice(["user", "assistant", "tool"])
    text = prose(rng, 80) + rng.choice(["", "\u2028", "\r", '"\\', "\x00", "😀", "\x1b[0m"])
    message: dict[str, Any] = {"role": role, "content": text}
    if role == "tool":
        message["tool_call_id"] = f"c{rng.randrange(9)}"
    if role == "assistant" and rng.random() < 0.5:
        message["content"] = [{"type": "think", "think": text, "encrypted": rng.choice([None, "sig"])}]
        function = {"name": "Shell", "arguments": json.dumps({"command": text})}
        message["tool_calls"] = [{"type": "function", "id": "c1", "function": function}]
    if role == "user" and rng.random() < 0.2:
        message["content"] = [{"type": "image_url", "image_url": {"url": "data:x", "id": None}}]
    return message


def some_changes(rng: random.Random) -> list[Any]:
    changes: list[Any] = [["prompt", prose(rng, 50)]] if rng.random() < 0.7 else []
    for _ in range(rng.randrange(1, 25)):
        kind = rng.choices(["append", "usage", "checkpoint", "revert", "clear"], [10, 4, 6, 2, 0.4])[0]
        argument: dict[str, Any] = {
            "append": [some_message(rng) for _ in range(rng.randrange(1, 3))],
            "usage": rng.randrange(100_000),
            "checkpoint": rng.random() < 0.5,
            "revert": rng.randrange(6),
        }
        changes.append([kind, argument[kind]] if kind in argument else [kind])
    return changes


def compare_changes(theirs: Actor, ours: Actor, folder: Path, count: int, rng: random.Random) -> Counter[str]:
    found: Counter[str] = Counter()
    for number in range(count):
        changes = some_changes(rng)
        files = [folder / f"{number}-{name}" / "context.jsonl" for name in ("peer", "ours")]
        for file in files:
            file.parent.mkdir()
            file.touch()
        told = [actor.do(file, changes) for actor, file in zip((theirs, ours), files, strict=True)]
        found["same memory" if told[0] == told[1] else "MEMORY DIFFERS"] += 1
        found["same bytes" if files[0].read_bytes() == files[1].read_bytes() else "BYTES DIFFER"] += 1
        if files[0].stat().st_size:  # an empty file beside rotations is taken for the peer's crash, and mended
            crossed = [theirs.do(files[1]), ours.do(files[0])]
            found["same when crossed" if crossed == told else "CROSSED READS DIFFER"] += 1
        rotations = [_rotations(file.parent) for file in files]
        found["same rotations" if rotations[0] == rotations[1] else "ROTATIONS DIFFER"] += 1
    return found


def _rotations(folder: Path) -> list[bytes]:
    """Contents, in order. Empty ones do not count: we leave none when there was nothing to leave."""
    files = sorted(folder.glob("context_*.jsonl"), key=lambda path: int(path.stem.partition("_")[2]))
    return [data for file in files if (data := file.read_bytes())]


def mutated(line: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(6)
    at = rng.randrange(len(line))
    if kind == 0:
        return line[:at]
    if kind == 1:
        return line[:at] + bytes([rng.randrange(32, 256)]) + line[at + 1 :]
    if kind == 2:
        return (
            line[:at] + rng.choice([b"\\ud83d", b"\\u0000", b"null", b"true", b"{}", b"[]", b"-1", b"1.5"]) + line[at:]
        )
    if kind == 3:
        return line.replace(rng.choice([b'"text"', b'"user"', b'"tool"', b'"id"', b'"content"']), b'"odd"', 1)
    if kind == 4:
        return line + line
    return line[:at] + line[at + rng.randrange(1, 9) :]


def verdict(theirs: Told, ours: Told) -> str:
    if "error" in ours:
        return "WE DO NOT OPEN"
    if "error" in theirs:
        return "only we open it"
    if theirs == ours:
        return "same"
    if (ours["history"], ours["system_prompt"]) == (theirs["history"], theirs["system_prompt"]):
        return "we refuse the number" if _odd(theirs) else "NUMBERS DIFFER"
    remaining = iter(ours["history"])
    if all(any(_within(message, other) for other in remaining) for message in theirs["history"]):
        return "we keep more"
    return "DIFFERS"


def _within(theirs: Any, ours: Any) -> bool:
    """Equal, but for keys that only we keep."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return all(key in ours and _within(value, ours[key]) for key, value in theirs.items())
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(map(_within, theirs, ours))
    return bool(theirs == ours)


def _odd(told: Told) -> bool:
    """An id or a count that no writer means: negative, a truth value, or beyond any session."""
    numbers = (told["n_checkpoints"] - 1, told["token_count"])
    return any(isinstance(number, bool) or not -1 <= number <= LARGEST for number in numbers)


def compare_mutants(theirs: Actor, ours: Actor, folder: Path, count: int, rng: random.Random) -> Counter[str]:
    source = folder / "source.jsonl"
    write_session(source, 60_000, seed=rng.randrange(10**6))
    lines = source.read_bytes().splitlines()
    found: Counter[str] = Counter()
    file = folder / "mutant" / "context.jsonl"
    file.parent.mkdir()
    for _ in range(count):
        damaged = list(lines)
        at = rng.randrange(len(lines))
        damaged[at] = mutated(lines[at], rng).replace(b"\n", b"").replace(b"\r", b"")
        file.write_bytes(b"\n".join(damaged) + b"\n")
        answer = verdict(theirs.do(file), ours.do(file))
        found[answer] += 1
        if answer.isupper():
            print(f"{answer}: line {at + 1}: {damaged[at][:2000]!r}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.differential", description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    python = peer.find()
    if python is None:
        print("kimi-cli is not here (set KIMI_CLI_PYTHON): nothing to compare with.")
        return
    rng = random.Random(chosen.seed)
    theirs, ours = Actor(python, "peer"), Actor(Path(sys.executable), "ours")
    with tempfile.TemporaryDirectory() as folder:
        found = compare_changes(theirs, ours, Path(folder), chosen.sessions, rng)
        found += compare_mutants(theirs, ours, Path(folder), chosen.mutants, rng)
    theirs.close()
    ours.close()
    for what, number in sorted(found.items()):
        print(f"{number:7}  {what}")
    raise SystemExit(any(what.isupper() for what in found))


if __name__ == "__main__":
    main()
