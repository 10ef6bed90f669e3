"""`kimi-tui doctor`: looks a session's files over, and with `--repair` mends what can be mended."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import click

from kimi_tui.cli import side_files
from kimi_tui.cli.progress import size
from kimi_tui.cli.reading import named, unreadable
from kimi_tui.context import SessionLocked
from kimi_tui.context.doctor import FileReport, Finding, Report, check, repair
from kimi_tui.literal import one_line
from kimi_tui.session import SessionFault

_MARKS = {"damage": "✗", "warning": "!", "note": "·"}


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
        report = repair(file) if mend else check(file)
        mended = side_files.mend(file.parent) if mend else ()
        found = (*report.findings, *side_files.check(file.parent))
        return dataclasses.replace(report, findings=found, mended=(*report.mended, *mended))
    except SessionLocked as fault:
        raise SessionFault(str(fault), hint="Close it there first.") from fault
    except OSError as error:
        raise unreadable(file, error) from error


def told(report: Report) -> Iterator[str]:
    """The report in lines."""
    yield report.folder
    yield from map(_file, report.files)
    yield from map(_finding, report.findings)
    yield from (f"✓ {sentence}" for sentence in report.mended)
    if report.healthy:
        yield "✓ healthy"
    elif any(finding.cure for finding in report.findings):
        yield "`kimi-tui doctor --repair` mends what has a cure; the old file is kept."


def _file(file: FileReport) -> str:
    facts = (
        size(file.size),
        f"{file.records} records",
        f"{file.messages} messages",
        f"{file.checkpoints} checkpoints",
        f"{file.tokens:,} tokens",
    )
    return f"{file.name}: {', '.join(facts)}"


def _finding(finding: Finding) -> str:
    line = f", line {finding.line}" if finding.line else ""
    byte = f", byte {finding.byte}" if finding.byte is not None else ""
    cure = f" Cure: {finding.cure}." if finding.cure else ""
    return f"{_MARKS[finding.severity]} {finding.file}{line}{byte}: {finding.what}{cure}"
