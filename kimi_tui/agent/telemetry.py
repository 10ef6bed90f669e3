"""Local telemetry: one JSON line per notable event, numbers only, in a bounded file that never leaves the machine."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

LIMIT = 1_000_000
"""Bytes; beyond it the older half is dropped."""

Number = int | float | bool


class Telemetry:
    """Writes what happened, in a worker where there is a loop to wait for. A disk that refuses costs a warning,
    nothing else."""

    def __init__(self, file: Path | None, clock: Callable[[], float] = time.time) -> None:
        self._file, self._clock = file, clock
        self._waiting: deque[str] = deque()
        self._due = False
        self._writing = threading.Lock()

    def note(self, event: str, **numbers: Number) -> None:
        """Add a line: `{"at": …, "event": "step", "input": 1200}`."""
        if self._file is None:
            return
        self._waiting.append(json.dumps({"at": round(self._clock(), 3), "event": event, **numbers}) + "\n")
        if self._due:
            return
        self._due = True
        try:
            asyncio.get_running_loop().run_in_executor(None, self._write)
        except RuntimeError:  # no loop, or one that ends
            self._write()

    def _write(self) -> None:
        with self._writing:
            self._due = False
            lines = "".join(self._waiting.popleft() for _ in range(len(self._waiting)))
            if self._file is None or not lines:
                return
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._bound()
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(lines)
            except OSError as fault:
                log.warning("telemetry could not be written: %s", fault)

    def summary(self) -> dict[str, dict[str, float]]:
        """Per kind of event: how often, and the sum of each of its numbers."""
        self._write()
        found: dict[str, Counter[str]] = {}
        for line in self._lines():
            entry = _parsed(line)
            totals = found.setdefault(str(entry.pop("event", "?")), Counter())
            totals["times"] += 1
            totals.update(
                {key: value for key, value in entry.items() if isinstance(value, int | float) and key != "at"}
            )
        return {event: dict(totals) for event, totals in found.items()}

    def _lines(self) -> list[str]:
        try:
            return self._file.read_text(encoding="utf-8", errors="replace").splitlines() if self._file else []
        except OSError:
            return []

    def _bound(self) -> None:
        if self._file is None or not self._file.exists() or self._file.stat().st_size < LIMIT:
            return
        lines = self._lines()
        half = self._file.with_suffix(".new")
        half.write_text("\n".join(lines[len(lines) // 2 :]) + "\n", encoding="utf-8")
        half.replace(self._file)


def _parsed(line: str) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
