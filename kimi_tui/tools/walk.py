"""The files of a folder, without what `.gitignore` and its kin leave out: by `rg`, or by walking without it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from kimi_tui.tools.ripgrep import COMMON, rg_path, run_rg

IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
MOST = 200_000
"""Files after which a walk ends."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths relative to the folder, as the system spells them, in no order."""

    files: list[str]
    complete: bool


async def list_files(folder: Path) -> Listing:
    """Every file below it that is not ignored. Links to folders are not followed."""
    program = rg_path()
    if program is None:
        return await asyncio.to_thread(_walked, folder)
    found = await run_rg(program, [*COMMON, "--files", "--", "."], folder)
    names = found.output.split(b"\0")
    if found.cut:
        names = names[:-1]
    return Listing([os.fsdecode(name.removeprefix(b"./")) for name in names if name], not found.cut)


def _walked(folder: Path) -> Listing:
    files: list[str] = []
    for name in walk(folder):
        if len(files) >= MOST:
            return Listing(files, False)
        files.append(name)
    return Listing(files, True)


def walk(folder: Path) -> Iterator[str]:
    """The same without `rg`."""
    yield from _below(folder, "", [])


def _below(folder: Path, prefix: str, rules: list[tuple[str, GitIgnoreSpec]]) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder / prefix), key=lambda entry: entry.name)
    except OSError:
        return
    rules = rules + [(prefix, spec) for spec in _specs(folder / prefix)]
    for entry in entries:
        path = prefix + entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or _ignored(path + "/" if is_folder else path, rules):
            continue
        if is_folder:
            yield from _below(folder, path + "/", rules)
        elif entry.is_file(follow_symlinks=False):
            yield path


def _specs(folder: Path) -> Iterator[GitIgnoreSpec]:
    for name in IGNORE_FILES:
        try:
            yield GitIgnoreSpec.from_lines((folder / name).read_text("utf-8", "replace").splitlines())
        except OSError:
            continue


def _ignored(path: str, rules: list[tuple[str, GitIgnoreSpec]]) -> bool:
    """The innermost rule that says anything decides."""
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(path[len(prefix) :]).include
        if verdict is not None:
            return bool(verdict)
    return False
