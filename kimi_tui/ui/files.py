"""The files of the work folder for `@`: listed by ripgrep, which knows .gitignore, else by walking."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from kimi_tui.spelling import spell
from kimi_tui.ui.fuzzy import best, matching

FRESH = 15.0
"""Seconds for which a list is good."""
MOST = 200_000
SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".ruff_cache"}


class Files:
    """Paths relative to one folder, folders with a `/` at their end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: list[str] = []
        self._listed = -FRESH
        self._last: tuple[str, list[str]] = ("", [])

    async def find(self, query: str, limit: int = 50) -> list[str]:
        """The best matches. A query that goes on from the one before only looks at what that one found."""
        await self._refresh()
        before, found = self._last
        names = found if before and query.startswith(before) else self._names
        if query:
            names = await matching(query, names)
        self._last = (query, names)
        return best(query, names, limit)

    async def _refresh(self) -> None:
        if monotonic() - self._listed < FRESH:
            return
        self._listed = monotonic()
        names = await self._by_ripgrep()
        if names is None:
            names = await asyncio.to_thread(lambda: list(_walk(self.folder)))
        self._names = await asyncio.to_thread(_with_folders, names)
        self._last = ("", [])

    async def _by_ripgrep(self) -> list[str] | None:
        beside = Path(sys.executable).with_name("rg")
        program = str(beside) if beside.is_file() else shutil.which("rg")
        if program is None:
            return None
        process = await asyncio.create_subprocess_exec(
            *(program, "--files", "--hidden", "--null", "--no-messages", "--glob", "!.git", "--no-require-git"),
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        out, _ = await process.communicate()
        return [os.fsdecode(name) for name in out.split(b"\0")[:MOST] if name]


def _walk(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        start = os.path.relpath(place, folder)
        yield from (name if start == "." else f"{start}/{name}" for name in sorted(files))


def _with_folders(names: list[str]) -> list[str]:
    """Shallow names first, folders among them, as the tools spell and understand them."""
    shown = [spell(name.removeprefix("./")) for name in names if _can_be_quoted(name)]
    folders = {name[: at + 1] for name in shown for at, char in enumerate(name) if char == "/"}
    return sorted([*shown, *folders], key=lambda name: (name.rstrip("/").count("/"), name))


def _can_be_quoted(name: str) -> bool:
    """A name with blanks comes between quotation marks."""
    return '"' not in name or " " not in name
