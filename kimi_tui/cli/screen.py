"""Starts the full screen: checks that there is a terminal, paints first, and loads the agent after that."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kimi_tui.cli.connecting import connect
from kimi_tui.cli.logs import log_failure
from kimi_tui.cli.secrets import masked
from kimi_tui.config_file import read_ui_options
from kimi_tui.faults import Fault
from kimi_tui.literal import one_line
from kimi_tui.options import LaunchOptions, UiOptions
from kimi_tui.places import config_file

if TYPE_CHECKING:
    from types import FrameType

    from kimi_tui.ui.app import KimiApp

_WITHOUT = "Without a screen: kimi-tui -p PROMPT."
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGABRT")


def require_terminal() -> None:
    """Raise `Fault` unless keys can be read and a screen be drawn. (The screen is drawn on standard error.)"""
    streams = (("input", sys.stdin), ("output", sys.stdout), ("error", sys.stderr))
    for name, stream in streams:
        if stream is None or not stream.isatty():
            raise Fault(f"standard {name} is not a terminal.", hint=_WITHOUT)
    if os.environ.get("TERM") == "dumb":
        raise Fault("this terminal (TERM=dumb) cannot draw a screen.", hint=_WITHOUT)


def run(options: LaunchOptions) -> int:
    """The app, until it ends; then how to come back. Returns the exit code. Raises `Fault`."""
    ended = show(options, read_ui_options(options.config_file or config_file()))
    if ended.farewell:
        print(ended.farewell)
    return ended.code


@dataclass(frozen=True, slots=True)
class Ended:
    """How the app ended."""

    code: int
    farewell: str
    """How to come back; empty when there is nothing to come back to."""


def show(options: LaunchOptions, ui: UiOptions) -> Ended:
    """The app, until it ends. Raises `Fault`: the agent could not be had."""
    from kimi_tui.ui.start import skeleton

    with skeleton(light=ui.theme == "light"):
        from kimi_tui.ui.app import KimiApp

        app = KimiApp(partial(connect, replace(options, prompt=None)), ui, prompt=options.prompt or "")
        stopped_by = _leave_on_signals(app)
        app.run()
    if app.broke is not None:
        raise _broken(app.broke)
    code = app.return_code or 0
    if code and app.farewell:
        raise Fault(app.farewell)
    return Ended(128 + stopped_by[0] if stopped_by else code, app.farewell)


def _broken(error: Exception) -> Fault:
    """A fault of our own: the log has its traceback, the user one line."""
    log = log_failure(error)
    what = one_line(masked(f"the screen broke: {type(error).__name__}: {error}"))
    hint = f"The session is as it was; kimi-tui -C goes on with it.{f' Details: {log}.' if log else ''}"
    return Fault(what, hint=hint)


def _leave_on_signals(app: KimiApp) -> list[int]:
    """A signal ends the app as its user would: files closed, terminal restored. The list takes the signals' numbers."""
    seen: list[int] = []

    def leave(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            sys.exit(128 + number)
        loop.call_soon_threadsafe(app.call_later, app.action_quit)

    for name in _SIGNALS:
        if number := getattr(signal, name, None):
            signal.signal(number, leave)
    return seen
