"""Glob: names of files and folders that fit a pattern."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import ClassVar

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.spelling import spell
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.glob_pattern import composed, expand, is_magic, matcher
from kimi_tui.tools.paths import PathFault, Place, admit_reading, explain, locate
from kimi_tui.tools.text import plural
from kimi_tui.tools.walk import list_files

MOST = 1000
"""Names in one result."""


class GlobParams(Params):
    pattern: str = Field(min_length=1, description="The pattern, e.g. `src/**/*.py`, `*.{ts,tsx}`, `docs/*`.")
    directory: str | None = Field(default=None, description="The folder it starts from; the work folder if left out.")
    include_dirs: bool = Field(default=True, description="Whether folders are listed too, with a slash at the end.")


class Glob:
    name: ClassVar[str] = "Glob"
    Params: ClassVar[type[Params]] = GlobParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/glob")

    def describe(self, params: GlobParams) -> tuple[str, str]:
        return "Glob", f"{params.pattern} in {params.directory}" if params.directory else params.pattern

    async def __call__(self, params: GlobParams, call: Call) -> ToolResult:
        try:
            names: dict[str, None] = {}
            complete = True
            for pattern in expand(params.pattern):
                found = await self._one(pattern, params, call)
                if isinstance(found, ToolResult):
                    return found
                complete &= found[1]
                names.update(dict.fromkeys(name for name in found[0] if name.endswith("/") or pattern[-1:] != "/"))
            return _listed(sorted(names), complete)
        except (PathFault, OSError) as fault:
            return failed(explain(fault))

    async def _one(self, pattern: str, params: GlobParams, call: Call) -> ToolResult | tuple[list[str], bool]:
        """The names for one pattern, and whether they are all; or a refusal."""
        fixed, rest = _split(pattern)
        place = await asyncio.to_thread(locate, str(Path(params.directory or ".") / fixed), call)
        refused = await admit_reading(place, call, self.name, "list")
        if refused is not None:
            return refused
        if not place.path.is_dir():
            if fixed and not params.directory:
                return [], True
            raise PathFault(f"{place.shown} is not a folder.")
        if "**" not in rest:
            names = await asyncio.to_thread(lambda: list(_by_segments(place.path, rest, params.include_dirs)))
            return [_told(place, name) for name in names], True
        listing = await list_files(place.path)
        names = await asyncio.to_thread(_fitting, listing.files, "/".join(rest), params.include_dirs)
        return [_told(place, name) for name in names], listing.complete


def _split(pattern: str) -> tuple[str, list[str]]:
    """The folder that the pattern names outright, and the parts from the first wildcard on (at least the last one)."""
    parts = list(PurePosixPath(pattern).parts)
    if not parts:
        raise PathFault("The pattern is empty.")
    number = next((n for n, part in enumerate(parts) if is_magic(part)), len(parts) - 1)
    number = min(number, len(parts) - 1)
    if ".." in parts[number:]:
        raise PathFault("`..` may only stand at the beginning of a pattern; give the folder as `directory`.")
    return str(PurePosixPath(*parts[:number])) if number else "", parts[number:]


def _by_segments(folder: Path, parts: list[str], include_dirs: bool, prefix: str = "") -> Iterator[str]:
    """Without `**` the folders are looked at directly, ignored files and all. Links to folders are not entered."""
    fits = matcher(parts[0]) if is_magic(parts[0]) else lambda name: composed(name) == composed(parts[0])
    for entry in os.scandir(folder):
        if entry.name == ".git" and parts[0] != ".git":
            continue
        if not (entry.name == parts[0] or fits(entry.name)):
            continue
        is_folder = entry.is_dir()
        if len(parts) > 1:
            if is_folder and not entry.is_symlink():
                yield from _by_segments(folder / entry.name, parts[1:], include_dirs, f"{prefix}{entry.name}/")
        elif include_dirs or not is_folder:
            yield f"{prefix}{entry.name}/" if is_folder else prefix + entry.name


def _fitting(files: list[str], pattern: str, include_dirs: bool) -> list[str]:
    fits = matcher(pattern)
    names = [name for name in files if fits(name)]
    if include_dirs:
        names += [f"{folder}/" for folder in _folders(files) if fits(folder)]
    return names


def _folders(files: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in files:
        folder = name.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _told(place: Place, name: str) -> str:
    return spell(name if place.shown == "." else f"{place.shown.removesuffix('/')}/{name}")


def _listed(names: list[str], complete: bool) -> ToolResult:
    if not names:
        return ToolResult(message="Nothing fits the pattern.", brief="nothing")
    notes = f"{plural(len(names), 'name')}."
    if len(names) > MOST:
        notes = f"{MOST:,} of {len(names):,} names; narrow the pattern down for the others."
    if not complete:
        notes += " The folder is too big to be looked through completely."
    return ToolResult("\n".join(names[:MOST]), message=notes, brief=plural(len(names), "name"))
