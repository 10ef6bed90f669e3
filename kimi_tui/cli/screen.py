"""Starts the full screen: checks that there is a terminal, paints first, and loads the agent after that."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from kimi_tui.config_file import read_ui_options
from kimi_tui.faults import Fault
from kimi_tui.options import LaunchOptions
from kimi_tui.places import config_file

if TYPE_CHECKING:
    from kimi_tui.protocol.ports import AgentPort

_WITHOUT = "Without a screen: kimi-tui -p PROMPT."


def require_terminal() -> None:
    """Raise `Fault` unless keys can be read and a screen be drawn. (The screen is drawn on standard error.)"""
    streams = (("input", sys.stdin), ("output", sys.stdout), ("error", sys.stderr))
    for name, stream in streams:
        if stream is None or not stream.isatty():
            raise Fault(f"standard {name} is not a terminal.", hint=_WITHOUT)
    if os.environ.get("TERM") == "dumb":
        raise Fault("this terminal (TERM=dumb) cannot draw a screen.", hint=_WITHOUT)


def run(options: LaunchOptions) -> int:
    """The app, until it ends; then how to come back. Raises `Fault`."""
    ui = read_ui_options(options.config_file or config_file())
    from kimi_tui.ui.start import skeleton

    with skeleton(light=ui.theme == "light"):
        from kimi_tui.ui.app import KimiApp

        app = KimiApp(partial(connect, options), ui)
        app.run()
    if app.farewell:
        print(app.farewell)
    return app.return_code or 0


async def connect(options: LaunchOptions) -> AgentPort:
    """Called after the first frame: this loads everything that the screen does not need to paint."""
    import asyncio
    from importlib import import_module

    bootstrap = await asyncio.to_thread(import_module, "kimi_tui.bootstrap")
    port: AgentPort = await bootstrap.connect(options)
    return port
