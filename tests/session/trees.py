"""Work trees for the tests of snapshots: made from literals, pictured byte for byte."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

Picture = dict[bytes, tuple[str, bytes, int]]
"""Path → what stands there, its content or target, its permissions."""


def picture(root: Path) -> Picture:
    """Everything below `root` but `.git`, the folders too."""
    seen: Picture = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        folders[:] = [name for name in folders if name != b".git"]
        for name in (*folders, *files):
            path = folder + b"/" + name
            seen[os.path.relpath(path, os.fsencode(root))] = _seen(path)
    return seen


def _seen(path: bytes) -> tuple[str, bytes, int]:
    about = os.lstat(path)
    if stat.S_ISLNK(about.st_mode):
        return "link", os.readlink(path), 0  # noqa: PTH115  # `Path` would tidy the target up
    if stat.S_ISDIR(about.st_mode):
        return "folder", b"", 0
    with open(path, "rb") as file:
        return "file", file.read(), stat.S_IMODE(about.st_mode)


def plant(root: Path, **files: str) -> None:
    """Write text files; `a__b` stands for `a/b`, `a_txt` for `a.txt`."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(folder: Path, *arguments: str) -> str:
    """The user's own git, in the user's own repository."""
    who = ("-c", "user.name=U", "-c", "user.email=u@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def everything(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below `root`, `.git` included, with the time of its last change."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
