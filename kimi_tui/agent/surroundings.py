"""What the model is told about where it works: the folder, its instructions, the machine, the day."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from pathlib import Path
from string import Template

from kimi_tui.resources import prompt
from kimi_tui.spelling import spell

INSTRUCTIONS = "AGENTS.md"
INSTRUCTIONS_LIMIT = 32_000
"""Characters of project instructions that go into the system prompt, over all files."""

_LISTED = 40
"""Names of the work dir's top level that are listed."""


def system_prompt(work_dir: Path, *, small: bool, skills: str = "") -> str:
    """The system prompt for a session that begins in `work_dir` now; `skills` is the part about them."""
    return Template(prompt("system_small" if small else "system")).safe_substitute(
        work_dir=spell(work_dir),
        system=f"{platform.system()} {platform.release()}",
        date=time.strftime("%A, %Y-%m-%d"),
        listing=listing(work_dir),
        skills=f"{skills}\n\n" if skills else "",
        instructions=instructions(work_dir, INSTRUCTIONS_LIMIT) or "(none)",
    )


def instructions(work_dir: Path, limit: int) -> str:
    """All AGENTS.md from the repository's root down to the work dir, each under its path."""
    found: list[str] = []
    for folder in reversed(list(_up_to_root(work_dir))):
        text = _read(folder / INSTRUCTIONS)
        if text:
            found.append(f"{spell(folder / INSTRUCTIONS)}:\n\n{text}")
    whole = "\n\n".join(found)
    return whole if len(whole) <= limit else whole[:limit] + "\n[… cut: read the file for the rest …]"


def listing(folder: Path) -> str:
    """The names in a folder, folders first; a bounded number."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: (not path.is_dir(), path.name))
    except OSError:
        return "(cannot be listed)"
    shown = [entry for entry in entries if entry.name != ".git"]
    names = [spell(f"{path.name}/" if path.is_dir() else path.name) for path in shown[:_LISTED]]
    more = [f"… and {len(shown) - _LISTED} more"] if len(shown) > _LISTED else []
    return "\n".join((*names, *more)) or "(empty)"


def git_branch(work_dir: Path) -> str:
    """The branch that is checked out there; a short hash when none is; empty outside a repository."""
    for folder in _up_to_root(work_dir):
        head = _read(_git_folder(folder / ".git") / "HEAD")
        if head.startswith("ref: refs/heads/"):
            return head.removeprefix("ref: refs/heads/")
        if head:
            return head[:8]
    return ""


def _git_folder(path: Path) -> Path:
    """`.git` itself, or the folder that a worktree's `.git` file names."""
    target = _read(path) if path.is_file() else ""
    if not target.startswith("gitdir: "):
        return path
    return (path.parent / target.removeprefix("gitdir: ")).resolve()


def _up_to_root(work_dir: Path) -> Iterator[Path]:
    """The work dir and its parents up to the repository's root; the work dir alone outside of one."""
    folders = [work_dir, *work_dir.parents]
    root = next((i for i, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    yield from folders[: root + 1]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
