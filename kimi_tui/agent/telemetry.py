"""Local telemetry: one JSON line per notable event, numbers only, in a bounded file that never leaves the machine."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

LIMIT = 1_000_000
"""Bytes; beyond it the older half is dropped."""

Number = int | float | bool


class Telemetry:
    """Writes what happened. A disk that refuses costs a warning, nothing else."""

    def __init__(self, file: Path | None, clock: Callable[[], float] = time.time) -> None:
        self._file, self._clock = file, clock

    def note(self, event: str, **numbers: Number) -> None:
        """Add a line: `{"at": …, "event": "step", "input": 1200}`."""
        if self._file is None:
            return
        line = json.dumps({"at": round(self._clock(), 3), "event": event, **numbers}) + "\n"
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._bound()
            with self._file.open("a", encoding="utf-8") as out:
                out.write(line)
        except OSError as fault:
            log.warning("telemetry could not be written: %s", fault)

    def summary(self) -> dict[str, dict[str, float]]:
        """Per kind of event: how often, and the sum of each of its numbers."""
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
