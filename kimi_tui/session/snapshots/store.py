"""The private repository of one work dir: takes snapshots of it. Synchronous; meant for a worker thread.

A snapshot is a tree with two entries: `files`, the work dir as git sees it, and `notes`, what git does not record.
References of the form `refs/snapshots/<day>/<id>` keep them from being collected. Sessions and processes that work in
the same folder share the repository; a lock lets one of them in at a time.

`current` names the snapshot that the index stands for. It is taken away while the index is being changed: without it
the index may be ahead, as after a first snapshot that was cut short, and goes on from there.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import filelock

from kimi_tui.session.snapshots.git import Git, GitFault, GitLate
from kimi_tui.session.snapshots.ground import Ground, hidden, prepare, survey
from kimi_tui.session.snapshots.scan import Found, Scan, usual_perms
from kimi_tui.session.snapshots.trees import Trees
from kimi_tui.session.snapshots.values import Limits, Notes, Snapshot

_PACKED_ABOVE = 500
"""New files from which on they go into one pack instead of a file each."""
_AT_ONCE = 4000
"""Files that go into the index with one call: what is in it stays, should the next one be cut short."""
_CLEANING = 900.0
"""Seconds that cleaning up may take, in the background."""
_WAIT = 30.0
"""Seconds for another process to let go of the repository."""


@dataclass(frozen=True, slots=True)
class Current:
    """The snapshot that the index stands for."""

    id: str
    notes: Notes


class Store:
    """Opened with the first snapshot. Raises Refused, GitFault, OSError."""

    def __init__(
        self, work_dir: Path, folder: Path, limits: Limits, hide: Sequence[Path] = (), day: str | None = None
    ) -> None:
        """`folder` holds the repository; `hide` are folders of our own that may stand inside the work dir."""
        self.work_dir, self.folder = work_dir.resolve(), folder
        self._limits, self._hide, self._day = limits, (folder, *hide), day
        self.git = Git(folder / "git", self.work_dir, limits.seconds)
        self.trees = Trees(self.git)
        self._ground: Ground | None = None
        self._thread = threading.Lock()
        self._kept: set[tuple[str, str]] = set()
        self._young: dict[str, os.stat_result] = {}
        """Files that changed in the very second in which they were recorded: git sees no further change of their
        permissions in it."""

    def take(self, *, gentle: bool = False, durable: bool = False) -> Snapshot:
        """The work dir as it is. `gentle`: at low priority; `durable`: survives a power cut."""
        with self._alone():
            begun, first = time.time(), self._ground is None
            ground = self._ground = self._open() if self._ground is None else self._ground
            (self.git.folder / "index.lock").unlink(missing_ok=True)  # of a git that was killed: nobody else is in here
            current = self._current(ground)
            scan = Scan(self.git, ground, hidden(ground, self._hide), self._limits, gentle=gentle)
            found = self._look(scan, first=first, anew=current is None)
            self._drop_seeds(found)
            self._young = {
                p: about for p, about in (self._young | found.seen | found.fresh).items() if about.st_ctime > begun - 2
            }
            if current is not None and _same(ground, found, current.notes):
                snapshot = Snapshot(current.id, current.notes.skipped, changed=False)
            else:
                snapshot = self._record(ground, scan, found, current, durable=durable)
            self._keep(snapshot.id)
            return snapshot

    def last(self) -> str | None:
        """The snapshot taken last, by whatever process; None before the first."""
        return self._read_current()[0] or None

    def tidy(self, keep_days: int, wanted: frozenset[str]) -> None:
        """Let go of snapshots older than that, but for `wanted` ones and the current one, and let git clean up."""
        with self._alone():
            wanted |= {self._read_current()[0]}
            oldest = self._date(time.time() - keep_days * 86400)
            refs = self.git.run("for-each-ref", "--format=%(refname)", "refs/snapshots/").decode().split()
            old = [ref for ref in refs if ref.split("/")[2] < oldest and ref.rpartition("/")[2] not in wanted]
            self.git.run("update-ref", "--stdin", given="".join(f"delete {ref}\n" for ref in old).encode())
            self.git.run("pack-refs", "--all", gentle=True)
        # what is younger than a day stays, so this needs no lock and keeps nobody waiting
        auto = ("gc.auto=6700", "gc.autoDetach=false", "gc.pruneExpire=1.day.ago")
        self.git.run("gc", "--auto", "--quiet", settings=auto, gentle=True, seconds=_CLEANING)

    def stop(self) -> None:
        """End what runs; nothing can be done with the store after this."""
        self.git.stop()

    # --- inside ---

    def _look(self, scan: Scan, *, first: bool, anew: bool) -> Found:
        young = {path: about.st_mode for path, about in self._young.items()}
        try:
            return scan.look(ignores=first or anew, young=young, anew=anew)
        except GitLate:
            raise
        except GitFault:
            if not anew:
                raise
            (self.git.folder / "index").unlink(missing_ok=True)  # it is damaged
            return scan.look(ignores=True, young={}, anew=True)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._thread:
            try:
                with filelock.FileLock(self.folder / "lock", timeout=_WAIT):
                    yield
            except filelock.Timeout as busy:
                raise GitFault("another process is recording this folder's files for too long") from busy

    def _open(self) -> Ground:
        ground = survey(self.work_dir)
        self.git.root = ground.root
        prepare(self.git, ground)
        return ground

    def _current(self, ground: Ground) -> Current | None:
        snapshot, prefix = self._read_current()
        if snapshot and prefix == ground.prefix:
            with contextlib.suppress(GitFault):
                return Current(snapshot, self.trees.notes(snapshot))
        if snapshot:  # of another root, or gone: the index is of no use
            (self.git.folder / "index").unlink(missing_ok=True)
        self._forget()
        return None

    def _read_current(self) -> tuple[str, str]:
        try:
            snapshot, _, prefix = os.fsdecode((self.folder / "current").read_bytes()).partition("\n")
        except OSError:
            return "", ""
        return snapshot, prefix

    def _forget(self) -> None:
        (self.folder / "current").unlink(missing_ok=True)

    def _drop_seeds(self, found: Found) -> None:
        if found.seeds:
            self._change("--force-remove", sorted(found.seeds))

    def _record(self, ground: Ground, scan: Scan, found: Found, last: Current | None, *, durable: bool) -> Snapshot:
        self._forget()
        self._index(found)
        found.folders = scan.empty_folders(scan.others(collapsed=True)[1])
        notes = _notes(ground, found, last.notes if last else None)
        sure = ("core.fsync=all",) if durable else ()
        tree = self._tree(ground, sure)
        blob = self.git.run("hash-object", "-w", "--stdin", given=notes.encode(), settings=sure).decode().strip()
        entries = f"040000 tree {tree}\tfiles\n100644 blob {blob}\tnotes\n"
        made = self.git.run("mktree", given=entries.encode(), settings=sure).decode().strip()
        _write(self.folder / "current", os.fsencode(f"{made}\n{ground.prefix}"))
        return Snapshot(made, notes.skipped, changed=last is None or made != last.id)

    def _index(self, found: Found) -> None:
        if found.gone:
            self._change("--force-remove", sorted(found.gone))
        if found.fresh:
            paths = sorted(found.fresh)
            for begin in range(0, len(paths), _AT_ONCE):
                self._put(paths[begin : begin + _AT_ONCE])

    def _put(self, paths: Sequence[str]) -> None:
        packed = ("core.bigFileThreshold=1",) if len(paths) > _PACKED_ABOVE else ()
        try:
            self._change("--add", paths, "--remove", "--replace", settings=packed)
        except GitLate:
            raise
        except GitFault:  # one of them was being written just now
            self._change("--add", paths, "--remove", "--replace")

    def _change(self, how: str, paths: Sequence[str], *more: str, settings: Sequence[str] = ()) -> None:
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        self.git.run("update-index", how, *more, "-z", "--stdin", given=given, settings=settings)

    def _tree(self, ground: Ground, sure: Sequence[str]) -> str:
        """The index as a tree; of the work dir alone."""
        if not ground.prefix:
            return self.git.run("write-tree", settings=sure).decode().strip()
        try:
            return self.git.run("write-tree", f"--prefix={ground.prefix}", settings=sure).decode().strip()
        except GitFault:
            return self.git.run("mktree").decode().strip()

    def _keep(self, snapshot: str) -> None:
        """See to it that it is not collected."""
        day = self._day or self._date(time.time())
        if (day, snapshot) not in self._kept:
            self.git.run("update-ref", f"refs/snapshots/{day}/{snapshot}", snapshot)
            self._kept.add((day, snapshot))

    def _date(self, at: float) -> str:
        return time.strftime("%Y%m%d", time.gmtime(at))


def _same(ground: Ground, found: Found, notes: Notes) -> bool:
    if found.fresh or found.gone:
        return False
    if _inside(ground, found.skipped) != notes.skipped:
        return False
    return not found.settled or _folders(ground, found) == notes.folders


def _notes(ground: Ground, found: Found, last: Notes | None) -> Notes:
    looked = found.seen | found.fresh
    usual = usual_perms(looked.values()) if last is None else last.usual
    perms = dict(last.perms) if last else {}
    for path in found.gone:
        perms.pop(path.removeprefix(ground.prefix), None)
    for path, about in looked.items():
        name, perm = path.removeprefix(ground.prefix), stat.S_IMODE(about.st_mode)
        if stat.S_ISREG(about.st_mode) and perm != usual[bool(perm & stat.S_IXUSR)]:
            perms[name] = perm
        else:
            perms.pop(name, None)
    return Notes(_inside(ground, found.skipped), _folders(ground, found), perms, usual)


def _folders(ground: Ground, found: Found) -> frozenset[str]:
    return frozenset(path.removeprefix(ground.prefix) for path in found.folders if path + "/" != ground.prefix)


def _inside(ground: Ground, paths: Mapping[str, str]) -> dict[str, str]:
    return {path.removeprefix(ground.prefix): why for path, why in paths.items()}


def _write(path: Path, data: bytes) -> None:
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    new.replace(path)
