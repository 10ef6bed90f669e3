"""`kimi-tui model`: the embedded models and their weights."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from kimi_tui.cli.sessions import size
from kimi_tui.faults import Fault
from kimi_tui.literal import padded
from kimi_tui.llm import weights
from kimi_tui.llm.model import ModelFault
from kimi_tui.places import data_folder, logs_folder, models_folder, require_writable

_BAR = 28
_PAUSE = 0.1
"""Seconds between two drawings of the bar."""


@click.group("model", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The embedded models, which need neither key nor network, and their weights on this machine."""


@command.command("list")
def list_them() -> None:
    """Show which there are, and what of them is on the disk."""
    for item in weights.list_models(data_folder()):
        print(f"{padded(item.name, 12)} {size(item.size):>8}  {_presence(item)}")


@command.command("pull")
@click.argument("name", default="local")
def pull(name: str) -> int:
    """Fetch the weights of NAME (local when left out); goes on where an earlier try stopped."""
    with _faults_in_a_line():
        if weights.is_present(data_folder(), name):
            print(f"{name} is here: {weights.path_of(data_folder(), name)}")
            return 0
        require_writable(models_folder())
        progress = Progress(name)
        try:
            path = asyncio.run(weights.fetch(data_folder(), logs_folder(), name, progress.show))
        except KeyboardInterrupt:
            progress.end()
            print(f"kimi-tui: stopped; what has arrived is kept: kimi-tui model pull {name}", file=sys.stderr)
            return 130
        finally:
            progress.end()
    print(path)
    return 0


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Delete the weights of NAME from the disk."""
    with _faults_in_a_line():
        freed = weights.remove(data_folder(), name)
    print(f"{name}: {size(freed)} freed" if freed else f"{name} was not on the disk")


@contextmanager
def _faults_in_a_line() -> Iterator[None]:
    try:
        yield
    except ModelFault as fault:
        raise Fault(str(fault), hint=fault.hint) from fault
    except OSError as error:
        raise Fault(f"{error.filename or models_folder()}: {error.strerror or error}") from error


def _presence(item: weights.WeightsOnDisk) -> str:
    if item.present:
        return f"here: {item.path}"
    return f"{size(item.arrived)} of it here" if item.arrived else "not here"


class Progress:
    """A bar on standard error; without a terminal there, one line a phase."""

    def __init__(self, name: str) -> None:
        self.name, self.live = name, sys.stderr.isatty()
        self._phase, self._drawn, self._started = "", 0.0, time.monotonic()
        self._first: int | None = None

    def show(self, phase: str, done: int, total: int) -> None:
        """Draw, unless the last drawing was a moment ago."""
        if self._first is None:
            self._first = done
        now = time.monotonic()
        if not self.live:
            self._say_once(phase)
        elif phase != self._phase or done >= total or now - self._drawn >= _PAUSE:
            self._drawn = now
            print(f"\r\x1b[K{self.line(phase, done, total, now - self._started)}", end="", file=sys.stderr, flush=True)
        self._phase = phase

    def line(self, phase: str, done: int, total: int, seconds: float) -> str:
        """What the bar shows after so many seconds."""
        share = min(1.0, done / total) if total else 0.0
        filled = round(share * _BAR)
        rate = (done - (self._first or 0)) / seconds if seconds > 1 else 0
        left = f" · {(total - done) / rate:.0f} s left" if rate > 0 and done < total else ""
        bar = "━" * filled + "╌" * (_BAR - filled)
        return f"{phase} {self.name}  {bar}  {size(done)} of {size(total)} · {share:.0%}{left}"

    def end(self) -> None:
        """Leave the line; what is printed next starts on its own."""
        if self.live and self._drawn:
            print(file=sys.stderr)
            self._drawn = 0.0

    def _say_once(self, phase: str) -> None:
        if phase != self._phase:
            print(f"{phase} {self.name} …", file=sys.stderr, flush=True)
