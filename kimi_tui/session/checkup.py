"""Looks a session over, the context files and what stands beside them, and tells what was found in lines."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.context.doctor import FileReport, Finding, Report, check, repair
from kimi_tui.session import side_files
from kimi_tui.sizes import size_of

_MARKS = {"damage": "✗", "warning": "!", "note": "·"}


def look_over(file: Path, *, mend: bool = False) -> Report:
    """The engine's report on the context files, and one on the files beside them. Blocks; raises `SessionLocked` (only
    to mend) and `OSError`."""
    report = repair(file) if mend else check(file)
    mended = side_files.mend(file.parent) if mend else ()
    found = (*report.findings, *side_files.check(file.parent))
    return dataclasses.replace(report, findings=found, mended=(*report.mended, *mended))


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
        size_of(file.size),
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
