"""What of a work tree is not as the index has it: one look at the tree, which writes nothing but seeds.

Nested repositories are folders like any other: their files are recorded, their `.git` is not. Git would record them as
one entry, unless its index already holds a file from inside: so they are seeded with one that does not exist.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.session.snapshots.git import Git
from kimi_tui.session.snapshots.ground import Ground, Refused
from kimi_tui.session.snapshots.values import Limits

_EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_SEED = ".kimi-tui-seed"
_DEEPEST = 8
"""Repositories inside repositories that are followed."""


@dataclass(slots=True)
class Found:
    """Paths are relative to the root, as the index has them."""

    fresh: dict[str, os.stat_result] = field(default_factory=dict)
    """New, changed, or looked at again: to be recorded."""
    seen: dict[str, os.stat_result] = field(default_factory=dict)
    """Files in the index that are as it has them, but whose permissions have to be noted anew."""
    gone: set[str] = field(default_factory=set)
    """In the index, but not to be."""
    skipped: dict[str, str] = field(default_factory=dict)
    seeds: set[str] = field(default_factory=set)
    folders: frozenset[str] = frozenset()
    """Empty ones, as far as they can be told before the index is brought up to date."""
    settled: bool = True
    """`folders` is final."""


class Scan:
    """One look. `hidden` are patterns for folders of our own."""

    def __init__(self, git: Git, ground: Ground, hidden: Sequence[str], limits: Limits, *, gentle: bool) -> None:
        self._git, self._ground, self._limits, self._gentle = git, ground, limits, gentle
        self._where = ["--", ground.prefix.rstrip("/")] if ground.prefix else []
        self._hidden = [part for pattern in hidden for part in ("-x", pattern)]
        self.found = Found()

    def look(self, *, ignores: bool, young: Mapping[str, int], anew: bool) -> Found:
        """`ignores`: what is ignored may have changed; `young`: modes of files whose change git may not see; `anew`:
        of the permissions nothing is known.

        Raises GitFault, Refused, OSError."""
        with ThreadPoolExecutor(1) as beside:
            changed = beside.submit(self._run, "diff-files", "-z", "--raw")
            others, folders = self.others(collapsed=True)
            self._changed(changed.result())
        self._examine([path for path, mode in self._modes(young) if mode not in (young[path], None)], known=True)
        if any(leaves(self._ground.root / folder) is None for folder in (*folders, *self._replaced())):
            self.found.settled = False
            others = self._inside()
        else:
            self.found.folders = self.empty_folders(folders)
        self._examine(others)
        if ignores or any(path.rpartition("/")[2] == ".gitignore" for path in (*self.found.fresh, *self.found.gone)):
            self._drop_ignored()
        if anew:
            self._see_all()
        self._check_size()
        return self.found

    def others(self, *, collapsed: bool) -> tuple[list[str], list[str]]:
        """Files that the index does not have, and folders: untracked or empty ones, or else nested repositories."""
        how = ["--directory"] if collapsed else []
        listed = self._names("ls-files", "-o", "-z", *how, "--exclude-standard", *self._hidden, *self._where)
        files = [path for path in listed if not path.endswith("/")]
        return files, [path.rstrip("/") for path in listed if path.endswith("/")]

    def empty_folders(self, folders: Iterable[str]) -> frozenset[str]:
        """The innermost folders among and below these that hold nothing."""
        found = (leaves(self._ground.root / folder) for folder in folders)
        inside = (leaf for leaf_paths in found if leaf_paths is not None for leaf in leaf_paths)
        return frozenset(leaf.relative_to(self._ground.root).as_posix() for leaf in inside)

    def _replaced(self) -> list[str]:
        """Files that became folders: git does not list these as new while its index has the files."""
        there = (self._ground.root / path for path in self.found.gone)
        return [str(path) for path in there if path.is_dir() and not path.is_symlink()]

    def _inside(self) -> list[str]:
        """All files that the index does not have, those in nested repositories too."""
        files, nested = self.others(collapsed=False)
        for _ in range(_DEEPEST):
            seeds = {f"{folder}/{_SEED}" for folder in nested if leaves(self._ground.root / folder) is None}
            if not seeds - self.found.seeds:
                break
            self.found.seeds |= seeds
            lines = "".join(f"{100644} {_EMPTY_BLOB}\t{seed}\0" for seed in sorted(seeds))
            self._run("update-index", "-z", "--add", "--index-info", given=os.fsencode(lines))
            files, nested = self.others(collapsed=False)
        return files

    def _changed(self, raw: bytes) -> None:
        """Fold in what `diff-files` says: `:modes oids STATUS NUL path NUL`."""
        parts = raw.split(b"\0")
        look = []
        for about, name in zip(parts[0::2], parts[1::2], strict=False):
            path = os.fsdecode(name)
            if about.endswith(b"D"):
                self.found.gone.add(path)
            else:
                look.append(path)
        self._examine(look, known=True)

    def _examine(self, paths: Collection[str], *, known: bool = False) -> None:
        """`known`: the index has them."""
        if len(paths) > self._limits.files:
            raise Refused(f"files are not recorded: the folder holds more than {self._limits.files:,} of them")
        for path in paths:
            about = _about(self._ground.root / path)
            why = None if about is None else self._unfit(path, about)
            if why:
                self.found.skipped[path] = why
            if about is not None and not why:
                self.found.fresh[path] = about
            elif known:
                self.found.gone.add(path)

    def _modes(self, paths: Iterable[str]) -> Iterator[tuple[str, int | None]]:
        """As plain text: right after a large tree was made this may be all of it, and paths as objects take as long
        again as asking the disk."""
        root = str(self._ground.root)
        for path in paths:
            about = _about(f"{root}/{path}")
            yield path, about.st_mode if about else None

    def _unfit(self, path: str, about: os.stat_result) -> str:
        if stat.S_ISLNK(about.st_mode):
            return ""
        if about.st_size > self._limits.file_bytes:
            return f"larger than {self._limits.file_bytes >> 20} MB"
        return "" if os.access(self._ground.root / path, os.R_OK) else "not readable"

    def _drop_ignored(self) -> None:
        """What is ignored by now leaves the index, unless the user's own repository tracks it all the same."""
        listed = self._names("ls-files", "--cached", "--ignored", "--exclude-standard", "-z", *self._hidden)
        ours, forced = set(listed), self._ground.forced
        self.found.gone |= ours - forced
        for path in ours - forced:
            self.found.fresh.pop(path, None)
        self._examine(sorted(forced - ours))

    def _see_all(self) -> None:
        for path in self._names("ls-files", "--cached", "-z"):
            if (
                path not in self.found.fresh
                and path not in self.found.gone
                and (about := _about(self._ground.root / path))
            ):
                self.found.seen[path] = about

    def _check_size(self) -> None:
        total = sum(about.st_size for about in self.found.fresh.values())
        if total > self._limits.total_bytes:
            raise Refused(f"files are not recorded: the folder holds more than {self._limits.total_bytes >> 30} GB")

    def _names(self, *arguments: str) -> list[str]:
        """Paths, without those that no index takes."""
        listed = (os.fsdecode(name) for name in self._run(*arguments).split(b"\0") if name)
        return [path for path in listed if not names_git(path)]

    def _run(self, *arguments: str, given: bytes = b"") -> bytes:
        return self._git.run(*arguments, given=given, gentle=self._gentle)


def names_git(path: str) -> bool:
    """Some part of the path is a repository's own folder."""
    return any(part.lower() == ".git" for part in path.split("/"))


def leaves(folder: Path) -> list[Path] | None:
    """The innermost folders at and below this one; None when there is anything but folders; `.git` is nothing."""
    found: list[Path] = []
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(here) if entry.name != ".git"]
        except OSError:
            continue
        if not all(entry.is_dir(follow_symlinks=False) for entry in entries):
            return None
        if not entries:
            found.append(here)
        waiting += [here / entry.name for entry in entries]
    return found


def usual_perms(found: Iterable[os.stat_result]) -> tuple[int, int]:
    """The permissions that most files, and most programs, have."""
    files: Counter[int] = Counter({0o644: 1})
    programs: Counter[int] = Counter({0o755: 1})
    for about in found:
        if stat.S_ISREG(about.st_mode):
            (programs if about.st_mode & 0o100 else files)[stat.S_IMODE(about.st_mode)] += 1
    return files.most_common(1)[0][0], programs.most_common(1)[0][0]


def _about(path: Path | str) -> os.stat_result | None:
    """None for what is not there, and for what is neither a file nor a link."""
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about if stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode) else None
