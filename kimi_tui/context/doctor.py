"""Looks a session's files over, names everything that is wrong by file, line and byte, and mends what can be mended.

Looking changes nothing. Mending writes a new live file and leaves the old one as a rotation, so it can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from kimi_tui.context.disk import Disk
from kimi_tui.context.journal import Journal
from kimi_tui.context.lock import SessionLock
from kimi_tui.context.log import Piece, Span
from kimi_tui.context.packed import open_rotation
from kimi_tui.context.paths import Paths
from kimi_tui.context.projection import Problem, Projection
from kimi_tui.context.reading import read_file
from kimi_tui.context.rescue import fused_records, split_record
from kimi_tui.context.store import Store
from kimi_tui.context.switching import repaired

Severity = Literal["damage", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a session's files. Only `note`s are no reason to worry."""

    severity: Severity
    file: str
    what: str
    """One sentence."""
    line: int | None = None
    """From 1."""
    byte: int | None = None
    """Where the line starts."""
    size: int | None = None
    """Bytes of the line."""
    cure: str = ""
    """What `repair` would do about it; empty when nothing."""


@dataclass(frozen=True, slots=True)
class FileReport:
    name: str
    size: int
    records: int
    messages: int
    checkpoints: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Report:
    folder: str
    files: tuple[FileReport, ...]
    """The live file first, then the rotations, newest first."""
    findings: tuple[Finding, ...]
    mended: tuple[str, ...] = ()
    """What `repair` did, a sentence each."""

    @property
    def healthy(self) -> bool:
        return all(finding.severity == "note" for finding in self.findings)


def context_file(path: Path) -> Path:
    """The live file of a session, given its folder or the file itself. Raises `FileNotFoundError`."""
    file = path / "context.jsonl" if path.is_dir() else path
    if not file.exists() and not (file.parent.is_dir() and Paths.of(file).numbers()):
        raise FileNotFoundError(f"There is no session at {path}")
    return file


def check(path: Path) -> Report:
    """Looks without changing anything. Raises `FileNotFoundError` when there is no session."""
    paths = Paths.of(context_file(path))
    files: list[FileReport] = []
    findings: list[Finding] = []
    for file in (paths.live, *(paths.rotation(number) for number in reversed(paths.numbers()))):
        try:
            projection, torn = read_file(file)
        except OSError as error:
            findings.append(_unreadable(paths, file, error))
            continue
        files.append(_file_report(projection))
        findings += _of_file(projection, torn, live=file == paths.live)
    findings += _of_folder(paths)
    return Report(str(paths.folder), tuple(files), tuple(findings))


def _file_report(projection: Projection) -> FileReport:
    return FileReport(
        name=projection.name,
        size=projection.size,
        records=projection.lines,
        messages=len(projection.history),
        checkpoints=len(projection.checkpoints),
        tokens=projection.tokens,
    )


def _unreadable(paths: Paths, file: Path, error: OSError) -> Finding:
    if file == paths.live and isinstance(error, FileNotFoundError):
        return Finding("damage", file.name, "The live file is missing.", cure="the newest rotation takes its place")
    return Finding("damage", file.name, f"The file cannot be read: {error.strerror or error}.")


def _of_file(projection: Projection, torn: bool, *, live: bool) -> Iterator[Finding]:
    """Damage in a rotation is history: it is told, but it is no reason to worry."""
    ends = dict(projection.left_out)
    for problem in projection.problems:
        yield _of_problem(problem, ends, live)
    if torn and projection.size:
        yield Finding(
            "damage" if live else "note",
            projection.name,
            "The last line has no line end: the program that wrote it was stopped.",
            line=projection.lines,
            cure="the line is closed" if live else "",
        )
    yield from _of_checkpoints(projection, live)
    if projection.prompts and projection.prompts[0][0] > 0:
        yield Finding("note", projection.name, "The system prompt is not the first record.")


def _of_problem(problem: Problem, ends: dict[int, int], live: bool) -> Finding:
    damaged = problem.kind == "damaged"
    size = ends[problem.byte] - problem.byte if damaged and problem.byte in ends else None
    return Finding(
        "damage" if damaged and live else "note",
        problem.file,
        problem.what,
        problem.line,
        problem.byte,
        size,
        cure="what is whole in it is taken out, the rest stays in the old file" if damaged and live else "",
    )


def _of_checkpoints(projection: Projection, live: bool) -> Iterator[Finding]:
    severity: Severity = "warning" if live else "note"
    for one, other in pairwise(projection.checkpoints):
        if other.id <= one.id:
            what = f"Checkpoint {other.id} stands after checkpoint {one.id}: two programs wrote at once."
            yield Finding("note", projection.name, what, other.lines + 1, other.offset)
        elif other.id > one.id + 1:
            what = f"After checkpoint {one.id} comes {other.id}: something between them is lost."
            yield Finding(
                severity if projection.left_out else "note", projection.name, what, other.lines + 1, other.offset
            )


def _of_folder(paths: Paths) -> Iterator[Finding]:
    listing = paths.listed()
    rotations = listing.numbers()
    if rotations and paths.live.exists() and not paths.live.stat().st_size and not _emptied(paths):
        what = "The live file is empty though there are rotations: a switch was broken off."
        yield Finding("damage", paths.live.name, what, cure="the newest rotation takes its place")
    for stray in listing.stray():
        yield Finding("note", stray.name, "A switch was broken off before it happened.", cure="the file is removed")
    there = {paths.rotation(number).name for number in rotations}
    told = Journal(paths, Disk()).read()
    known = there | told.pruned | {switch.took for switch in told.switches}
    for switch in told.switches:
        if switch.file not in known:
            yield Finding("note", switch.file, "The rotation is gone; it was not removed by kimi-tui.")
    holder = SessionLock(paths.lock).holder()
    if holder is not None:
        yield Finding("note", paths.lock.name, f"The session is open: {holder} writes it.")


def _emptied(paths: Paths) -> bool:
    switches = Journal(paths, Disk()).read().switches
    return bool(switches) and switches[-1].messages[1] == 0


def repair(path: Path, disk: Disk | None = None) -> Report:
    """Mends what can be mended and looks again. Raises `SessionLocked` when the session is open elsewhere, `OSError`
    when the disk refuses."""
    store = Store(context_file(path), durability="always", disk=disk)
    try:
        store.open()()
        mended = [problem.what for problem in store.problems if problem.kind in ("repaired", "recovered")]
        pieces, damaged, rescued = _mended_pieces(store)
        if damaged:
            what = f"{_some(damaged, 'damaged line')} left out, {_some(rescued, 'record')} rescued from them"
            switch, publish = repaired(store, pieces, note=what)
            publish()
            mended.append(f"{what}; the old file is {switch.file}.")
    finally:
        store.close()
    after = check(path)
    return Report(after.folder, after.files, after.findings, tuple(mended))


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _mended_pieces(store: Store) -> tuple[list[Piece], int, int]:
    """What the mended file is made of, how many lines were damaged and how many records rescued from them."""
    pieces: list[Piece] = []
    damaged, rescued, position = 0, 0, 0
    with open_rotation(store.paths.live) as file:
        for group in _neighbours(store.projection.left_out):
            if group[0][0] > position:
                pieces.append(Span(None, position, group[0][0]))
            file.seek(group[0][0])
            lines = [file.read(stop - start) for start, stop in group]
            damaged += sum(not line.isspace() for line in lines)
            records = _rescued(lines)
            pieces += records
            rescued += len(records)
            position = group[-1][1]
    if position < store.projection.size:
        pieces.append(Span(None, position, store.projection.size))
    return pieces, damaged, rescued


def _neighbours(ranges: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Ranges in groups that follow each other without a gap."""
    group: list[tuple[int, int]] = []
    for span in ranges:
        if group and group[-1][1] != span[0]:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _rescued(lines: list[bytes]) -> list[bytes]:
    records: list[bytes] = []
    while lines:
        found = split_record(lines)
        if found is not None:
            records.append(found[0])
            lines = lines[found[1] :]
        else:
            records += fused_records(lines[0])
            lines = lines[1:]
    return records
