"""`kimi-tui tour`: two minutes in the real app, with a recorded model, in a scratch folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kimi_tui.cli import screen
from kimi_tui.config_file import read_ui_options
from kimi_tui.options import LaunchOptions
from kimi_tui.places import config_file
from kimi_tui.resources import folder, prompt

_FAREWELL = "The tour's folder is gone again. `kimi-tui` starts in the folder that you are in."


@click.command("tour")
def command() -> int:
    """Show the app in two minutes: a checkpoint, going back, a D-Mail, a compaction, the rotations.

    A recorded model talks and says what to press; the tools are real and run in a scratch folder, which is removed
    at the end. Nothing of yours is read or changed, no key is needed.
    """
    screen.require_terminal()
    ui = read_ui_options(config_file())
    with scratch() as options:
        ended = screen.show(options, ui)
    print(_FAREWELL)
    return ended.code


@contextmanager
def scratch() -> Iterator[LaunchOptions]:
    """A project, and a home for the session, for as long as the tour lasts."""
    before = os.environ.get("KIMI_TUI_HOME")
    with tempfile.TemporaryDirectory(prefix="kimi-tui-tour-", ignore_cleanup_errors=True) as path:
        home, work = Path(path) / "home", Path(path) / "project"
        home.mkdir()
        shutil.copytree(folder("prompts") / "tour" / "project", work)
        script = folder("prompts") / "tour" / "script.json"
        model = json.dumps(f"replay:{script}")
        (home / "config.toml").write_text(f"[models.tour]\nmodel = {model}\n", encoding="utf-8")
        os.environ["KIMI_TUI_HOME"] = str(home)
        try:
            yield LaunchOptions(prompt=prompt("tour/start"), work_dir=work, model="tour")
        finally:
            _put_back(before)


def _put_back(home: str | None) -> None:
    if home is None:
        del os.environ["KIMI_TUI_HOME"]
    else:
        os.environ["KIMI_TUI_HOME"] = home
