"""How much of something has come: a bar on standard error, and sizes in words."""

from __future__ import annotations

import sys
import time

_BAR = 28
_PAUSE = 0.1
"""Seconds between two drawings of the bar."""
_UNITS = ("B", "kB", "MB", "GB")


class Progress:
    """A bar on standard error; without a terminal there, one line a phase."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self._phase, self._drawn, self._started = "", 0.0, time.monotonic()
        self._first: int | None = None

    def show(self, name: str, phase: str, done: int, total: int) -> None:
        """Draw, unless the last drawing was a moment ago."""
        if self._first is None:
            self._first = done
        now = time.monotonic()
        if not self.live:
            self._say_once(name, phase)
        elif phase != self._phase or done >= total or now - self._drawn >= _PAUSE:
            self._drawn = now
            print(
                f"\r\x1b[K{self.line(name, phase, done, total, now - self._started)}",
                end="",
                file=sys.stderr,
                flush=True,
            )
        self._phase = phase

    def line(self, name: str, phase: str, done: int, total: int, seconds: float) -> str:
        """What the bar shows after so many seconds."""
        share = min(1.0, done / total) if total else 0.0
        filled = round(share * _BAR)
        rate = (done - (self._first or 0)) / seconds if seconds > 1 else 0
        left = f" · {(total - done) / rate:.0f} s left" if rate > 0 and done < total else ""
        bar = "━" * filled + "╌" * (_BAR - filled)
        return f"{phase} {name}  {bar}  {size(done)} of {size(total)} · {share:.0%}{left}"

    def end(self) -> None:
        """Leave the line; what is printed next starts on its own."""
        if self.live and self._drawn:
            print(file=sys.stderr)
            self._drawn = 0.0

    def _say_once(self, name: str, phase: str) -> None:
        if phase != self._phase:
            print(f"{phase} {name} …", file=sys.stderr, flush=True)


def size(count: int) -> str:
    """Bytes as a person says them: `1.2 MB`."""
    amount = float(count)
    for unit in _UNITS[:-1]:
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} {_UNITS[-1]}"
