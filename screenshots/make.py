"""Makes the README's pictures: the real app and agent, a recorded model. `python -m screenshots.make [NAME …]`."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from kimi_tui import bootstrap
from kimi_tui.options import LaunchOptions, UiOptions
from kimi_tui.ui.app import KimiApp

HERE = Path(__file__).parent
SIZE = (124, 38)
PATIENCE = 30.0
"""Seconds that a scene may wait for something to happen."""

Scene = Callable[[Pilot[None]], Awaitable[None]]


async def chat(pilot: Pilot[None]) -> None:
    """Two turns: a fix, and what the user wanted otherwise."""
    await say(pilot, "python3 check_parser.py fails: find out why and fix it")
    await say(pilot, "keep the error for a line without an equals sign")


async def revert(pilot: Pilot[None]) -> None:
    """The choice that opens on a checkpoint, beside what would go."""
    await chat(pilot)
    await pilot.press("ctrl+t", "down", "down", "enter")


async def dmail(pilot: Pilot[None]) -> None:
    """The model took back a step of its own."""
    await chat(pilot)
    await say(pilot, "read every file again and tell me whether they are fine")


async def compaction(pilot: Pilot[None]) -> None:
    """A summary while it is being written."""
    await dmail(pilot)
    await type_in(pilot, "/compact keep the decisions")
    await until(pilot, _summarises)


def _summarises(app: KimiApp) -> bool:
    running = app.chat.state.compaction
    return running is not None and running.phase == "summarising" and running.done > 40


async def rotations(pilot: Pilot[None]) -> None:
    """The files that jumps left behind."""
    await dmail(pilot)
    await type_in(pilot, "/compact")
    await idle(pilot)
    await type_in(pilot, "/rotations")
    await pilot.pause(0.5)


SCENES: dict[str, Scene] = {scene.__name__: scene for scene in (chat, revert, dmail, compaction, rotations)}


async def type_in(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*("space" if letter == " " else letter for letter in text))
    await pilot.press("enter")


async def say(pilot: Pilot[None], prompt: str) -> None:
    await type_in(pilot, prompt)
    await idle(pilot)


async def idle(pilot: Pilot[None]) -> None:
    await pilot.pause(0.4)
    await until(pilot, lambda app: not app.chat.state.busy)


async def until(pilot: Pilot[None], holds: Callable[[KimiApp], bool]) -> None:
    app = pilot.app
    assert isinstance(app, KimiApp)
    async with asyncio.timeout(PATIENCE):
        while not holds(app):
            await pilot.pause(0.05)
    await pilot.pause(0.2)


async def picture(scene: Scene, theme: str) -> str:
    """The scene's last frame as SVG, played in a scratch folder."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        work = home / "src" / "parser"
        shutil.copytree(HERE / "project", work)
        config = home / "config.toml"
        config.write_text(f'default_model = "tour"\n[models.tour]\nmodel = "replay:{HERE / "tour.json"}"\n')
        os.environ.update(HOME=scratch, KIMI_TUI_HOME=str(home / "data"))
        options = LaunchOptions(work_dir=work, config_file=config, yolo=True)
        app = KimiApp(partial(bootstrap.connect, options), UiOptions(theme=theme))
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda app: bool(app.chat.state.session))
            await scene(pilot)
            drawn = app.export_screenshot(title="kimi-tui")
            await app.action_quit()
        return without_addresses(drawn)


def without_addresses(svg: str) -> str:
    """The picture asks no server for a font: the reader's own monospaced one is used."""
    svg = re.sub(r"@font-face\s*{.*?}", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")


def main(names: list[str]) -> None:
    for name in names or SCENES:
        target = HERE / f"{name}.svg"
        target.write_text(asyncio.run(picture(SCENES[name], "dark")), encoding="utf-8")
        print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
