"""`kimi-tui doctor`: looks a session's files over, and with `--repair` mends what can be mended."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from kimi_tui.cli.reading import named, unreadable
from kimi_tui.context import SessionLocked
from kimi_tui.context.doctor import Report
from kimi_tui.literal import one_line
from kimi_tui.session import SessionFault
from kimi_tui.session.checkup import look_over, told


@click.command("doctor")
@click.argument("path")
@click.option("--repair", "mend", is_flag=True, help="Mend what can be mended; the old file stays as a rotation.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def command(path: str, mend: bool, as_json: bool) -> int:
    """Check the files of PATH (a session folder, a context file, or a session id). Exit 1: something is wrong."""
    report = looked_over(named(path).session.context_file, mend=mend)
    if as_json:
        print(json.dumps({**dataclasses.asdict(report), "healthy": report.healthy}, indent=2))
    else:
        for line in told(report):
            print(one_line(line))
    return 0 if report.healthy else 1


def looked_over(file: Path, *, mend: bool) -> Report:
    """The engine's report on the context files, and ours on what stands beside them."""
    try:
        return look_over(file, mend=mend)
    except SessionLocked as fault:
        raise SessionFault(str(fault), hint="Close it there first.") from fault
    except OSError as error:
        raise unreadable(file, error) from error
