"""Where a work tree stands: its enclosing repository, what is to be ignored there, and whether it can be recorded.

The user's repository is only asked questions, by commands that write nothing and run nothing.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.faults import Fault
from kimi_tui.session.snapshots.git import Git, isolated, program


class Refused(Fault):
    """No snapshots are taken of this folder, and why."""


@dataclass(frozen=True, slots=True)
class Ground:
    """`root` is the top of the enclosing repository, so that its ignore files count; else the work dir itself."""

    root: Path
    prefix: str
    """The work dir below the root, with a slash at its end; empty when they are the same."""
    excludes: str
    """The user's file of patterns for all repositories; need not exist."""
    patterns: bytes
    """The enclosing repository's `info/exclude`."""
    forced: frozenset[str]
    """Files that the user's repository tracks although they match an ignored pattern, relative to the root."""


def survey(work_dir: Path) -> Ground:
    """Look around. Raises Refused, GitFault."""
    work_dir = work_dir.resolve()
    _refuse(work_dir)
    root = _repository(work_dir)
    excludes = _user_excludes()
    if root is None or _ignored(root, work_dir, excludes):
        return Ground(work_dir, "", excludes, b"", frozenset())
    prefix = "" if root == work_dir else work_dir.relative_to(root).as_posix() + "/"
    return Ground(root, prefix, excludes, _patterns(root), _forced(root, prefix, excludes))


def prepare(git: Git, ground: Ground) -> None:
    """Tell our repository what the user's ignores."""
    git.make()
    git.excludes = ground.excludes
    (git.folder / "info" / "exclude").write_bytes(ground.patterns)


def hidden(ground: Ground, folders: Iterable[Path]) -> list[str]:
    """Patterns that leave out folders of our own which stand inside the work tree."""
    found = []
    for folder in folders:
        with contextlib.suppress(ValueError):
            inside = folder.resolve().relative_to(ground.root).as_posix()
            if inside != ".":
                found.append("/" + _literal(inside))
    return found


def _refuse(work_dir: Path) -> None:
    home = Path.home().resolve()
    if work_dir == Path(work_dir.anchor):
        raise Refused("files are not recorded: the work folder is the root of the file system")
    if work_dir == home or work_dir in home.parents:
        raise Refused("files are not recorded: the work folder is your home folder")


def _repository(work_dir: Path) -> Path | None:
    """The closest folder with a `.git` in it, going up."""
    return next((folder for folder in (work_dir, *work_dir.parents) if os.path.lexists(folder / ".git")), None)


def _ignored(root: Path, work_dir: Path, excludes: str) -> bool:
    """The enclosing repository does not care for the work dir (a home folder under version control, say)."""
    return root != work_dir and _ask(root, excludes, "check-ignore", "-q", "--", str(work_dir)) is not None


def _user_excludes() -> str:
    """What the user's own configuration names, else git's usual place."""
    asked = [program(), "config", "--global", "--includes", "--type=path", "--get", "core.excludesFile"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(asked, capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 0 and (named := os.fsdecode(done.stdout.rstrip(b"\n"))):
            return named
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return str(Path(base) / "git" / "ignore")


def _patterns(root: Path) -> bytes:
    where = _ask(root, "", "rev-parse", "--git-path", "info/exclude")
    if where is None:
        return b""
    with contextlib.suppress(OSError):
        return (root / os.fsdecode(where.rstrip(b"\n"))).read_bytes()
    return b""


def _forced(root: Path, prefix: str, excludes: str) -> frozenset[str]:
    where = ("--", prefix.rstrip("/")) if prefix else ()
    listed = _ask(
        root, excludes, "--literal-pathspecs", "ls-files", "--cached", "--ignored", "--exclude-standard", "-z", *where
    )
    return frozenset(os.fsdecode(name) for name in (listed or b"").split(b"\0") if name)


def _ask(root: Path, excludes: str, *question: str) -> bytes | None:
    """Ask the user's repository; None when it does not know or is none."""
    quiet = ["-c", "core.fsmonitor=false", *(["-c", f"core.excludesFile={excludes}"] if excludes else [])]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [program(), *quiet, *question],
            cwd=root,
            env=isolated(None, root),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        return done.stdout if done.returncode == 0 else None
    return None


def _literal(path: str) -> str:
    return "".join("\\" + sign if sign in "\\*?[] " else sign for sign in path)
