"""`kimi-tui sessions`: which there are, this folder's first."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import click

from kimi_tui.cli.progress import size
from kimi_tui.literal import one_line, padded, shortened
from kimi_tui.protocol.views import SessionView
from kimi_tui.session import list_sessions


@click.command("sessions")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
@click.option("-w", "--work-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Default: here.")
def command(as_json: bool, work_dir: Path | None) -> None:
    """List the sessions, this folder's and the newest first. Those of kimi-cli, and those that are open, are marked."""
    here = (work_dir or Path.cwd()).absolute()
    views = list_sessions(here)
    if as_json:
        print(json.dumps([dataclasses.asdict(view) for view in views], indent=2))
    elif views:
        _table(views)
    else:
        print("No sessions yet.")


def _table(views: list[SessionView]) -> None:
    folder = None
    for view in views:
        if view.work_dir != folder:
            folder = view.work_dir
            print(f"{'' if view is views[0] else chr(10)}{one_line(folder) or '(folder unknown)'}")
        print(_row(view))


def _row(view: SessionView) -> str:
    mark = "open" if view.locked else "kimi-cli" if view.foreign else ""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(view.at))
    messages = "" if view.messages is None else f"{view.messages} messages"
    cells = (padded(shortened(view.id, 36), 22), when, f"{size(view.size):>8}", f"{messages:>13}", padded(mark, 8))
    return f"  {'  '.join(cells)}  {shortened(view.title, 60)}".rstrip()
