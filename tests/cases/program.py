"""The program as its users start it: `python -m kimi_tui …` in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


def start(*arguments: str | Path, cwd: Path, **more: Any) -> subprocess.Popen[str]:
    """In the background; both outputs are pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "kimi_tui", *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def run(*arguments: str | Path, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """To its end. `more` goes to `subprocess.run`."""
    given = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 60, "env": environment()}
    if "input" in more:
        del given["stdin"]
    return subprocess.run(
        [sys.executable, "-m", "kimi_tui", *map(str, arguments)], cwd=cwd, check=False, **{**given, **more}
    )


def script(place: Path, *replies: dict[str, Any]) -> str:
    """A model that gives these replies, then `ok` for ever; its name for `-m`."""
    file = place / "script.json"
    file.write_text(json.dumps({"replies": list(replies), "default": {"text": "ok"}}))
    return f"replay:{file}"


def user_texts(log: Path) -> list[str]:
    """What the user said, out of the whole records of a log."""
    texts = []
    for line in log.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        content = record.get("content") if record.get("role") == "user" else None
        if isinstance(content, str) and not content.startswith("<system"):
            texts.append(content)
    return texts


def small_files(bytes_: int) -> Any:
    """A `preexec_fn`: no file of the process grows beyond this."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


def names(folder: Path) -> Sequence[str]:
    return sorted(path.name for path in folder.iterdir())
