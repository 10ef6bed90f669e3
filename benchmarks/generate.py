"""Sessions like real ones, from a seed: prose in two scripts, code, tool results of 1 to 30 KB."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_WORDS = re.findall(
    r"\w+",
    "the parser returns a list of tokens when it should return one error so we read file first then fix test that "
    "fails because index was off by one in loop over lines of input stream buffer and add case for empty value",
)
_CHINESE = "我们先看一下解析器的代码然后修复测试因为循环里的索引差了一位所以最后一行没有被读到需要加一个空输入的情况"
_CODE = (
    "def read(path):\n    with open(path) as file:\n        return [line.rstrip() for line in file]\n",
    "for index, value in enumerate(values):\n    if value is None:\n        continue\n    total += value * index\n",
    '{"name": "parser", "version": [1, 4, 2], "files": ["a.py", "b.py"], "ok": true}\n',
)


def write_session(path: Path, size: int, seed: int = 7) -> int:
    """Writes about `size` bytes of a healthy session; returns the number of records."""
    rng = random.Random(seed)
    written = count = 0
    with path.open("wb") as file:
        for record in _records(rng):
            line = _line(record)
            file.write(line)
            written += len(line)
            count += 1
            if written >= size and record["role"] == "_usage":
                return count
    raise AssertionError("a session has no end of its own")


def _line(record: dict[str, Any]) -> bytes:
    if record["role"].startswith("_"):
        return json.dumps(record).encode() + b"\n"
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _records(rng: random.Random) -> Iterator[dict[str, Any]]:
    yield {"role": "_system_prompt", "content": prose(rng, 3000)}
    tokens = 1000
    number = 0
    while True:
        yield {"role": "_checkpoint", "id": number}
        if number % 6 == 0:
            yield {"role": "user", "content": prose(rng, 200)}
        yield _assistant(rng, number)
        tokens += rng.randrange(200, 2000)
        yield {"role": "tool", "content": tool_output(rng), "tool_call_id": f"call_{number}"}
        yield {"role": "_usage", "token_count": tokens}
        number += 1


def _assistant(rng: random.Random, number: int) -> dict[str, Any]:
    arguments = json.dumps({"command": prose(rng, 60)}, ensure_ascii=False)
    call = {"type": "function", "id": f"call_{number}", "function": {"name": "Shell", "arguments": arguments}}
    parts = [
        {"type": "think", "think": prose(rng, 400), "encrypted": None},
        {"type": "text", "text": prose(rng, 300)},
    ]
    return {"role": "assistant", "content": parts, "tool_calls": [call]}


def prose(rng: random.Random, length: int) -> str:
    """About `length` characters, a quarter of the time in Chinese."""
    if rng.random() < 0.25:
        return "".join(rng.choices(_CHINESE, k=length // 2))
    return " ".join(rng.choices(_WORDS, k=length // 5))


def tool_output(rng: random.Random) -> str:
    length = int(math.exp(rng.uniform(math.log(1_000), math.log(30_000))))
    pieces: list[str] = []
    while sum(map(len, pieces)) < length:
        pieces.append(rng.choice(_CODE) if rng.random() < 0.7 else prose(rng, 300) + "\n")
    return "".join(pieces)[:length]
