"""The work tree through time, for the agent: everything here runs in a worker thread, one thing after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from kimi_tui.places import data_folder
from kimi_tui.protocol.views import DiffView
from kimi_tui.session.session import hash_of
from kimi_tui.session.snapshots.disk import WorkTree
from kimi_tui.session.snapshots.git import GitFault, program
from kimi_tui.session.snapshots.ground import Refused
from kimi_tui.session.snapshots.restore import Restore, Stretch, Wish, wishes
from kimi_tui.session.snapshots.store import Store
from kimi_tui.session.snapshots.values import FileChange, Held, Limits, RestoreResult, Snapshot

T = TypeVar("T")

OUTSIDE = "outside the work folder"
IGNORED = "ignored by git"
_SHOWN = 512 << 10
"""Bytes of a text that is compared on a screen, at most."""


class Snapshots:
    """Takes, compares and restores. Making one touches nothing on disk."""

    def __init__(
        self, work_dir: Path, folder: Path | None = None, *, limits: Limits | None = None, hide: Sequence[Path] = ()
    ) -> None:
        """`folder`: where the private repository is, by default a place for this work dir in the data folder.
        `hide`: folders that may stand inside the work dir and are not part of it (the session's own)."""
        self.work_dir = work_dir
        self.off = ""
        """Why nothing is recorded here, in one line; empty while it is."""
        where = folder if folder is not None else data_folder() / "snapshots" / hash_of(work_dir)
        self._store = Store(work_dir, where, limits or Limits(), (*hide, data_folder()))
        self._disk = WorkTree(self._store.work_dir, (limits or Limits()).file_bytes)
        self._turn = asyncio.Lock()

    async def take(self, *, gentle: bool = False) -> Snapshot | None:
        """The work tree as it is. None where snapshots are off. Raises GitFault, OSError when it failed this once."""
        if self.off:
            return None
        try:
            return await self._run(lambda: self._take(gentle=gentle))
        except Refused as why:
            self.off = str(why)
            return None

    async def changes(self, before: str, after: str | None = None) -> list[FileChange]:
        """What differs between two snapshots, or one and the present. Raises GitFault."""
        return await self._run(lambda: self._store.trees.changes(before, after or self._store.take().id))

    async def diff(self, before: str, after: str | None, path: str) -> DiffView | None:
        """One path's two texts; None when either is no text or a very long one. Raises GitFault."""
        return await self._run(lambda: self._diff(before, after or self._store.take().id, path))

    async def touched(self, stretches: Sequence[Stretch]) -> list[tuple[Wish, bool]]:
        """What taking these stretches back would put back, and whether somebody else has edited it since."""
        return await self._run(lambda: self._touched(stretches))

    async def take_back(
        self,
        stretches: Sequence[Stretch],
        *,
        overwrite: frozenset[str] = frozenset(),
        begun: Callable[[Snapshot], object] = lambda _: None,
    ) -> RestoreResult:
        """Undo what was done in these stretches, oldest first, and nothing else. The result is one more stretch:
        taking that back undoes this. Raises GitFault, Refused, OSError before anything is touched.

        `begun` is told, in the worker, how files are right before the first of them changes: whoever writes that down
        can take back what a crash cuts off."""
        return await self._run(lambda: self._take_back(stretches, None, overwrite, begun))

    async def restore(
        self, snapshot: str, *, paths: Sequence[str] | None = None, overwrite: frozenset[str] = frozenset()
    ) -> RestoreResult:
        """Put the work tree, or these paths of it, back to a snapshot, but for what was changed after the last one."""
        return await self._run(lambda: self._restore(snapshot, paths, overwrite))

    async def text_of(self, wish: Wish) -> DiffView | None:
        """What putting this path back would change, from how it is now; None when that is no text."""
        return await self._run(lambda: self._towards(wish))

    async def unreachable(self, paths: Sequence[str]) -> dict[str, str]:
        """Which of these paths, as tools name them, no snapshot holds although they are there, and why not."""
        return await self._run(lambda: self._unreachable(paths))

    async def tidy(self, keep_days: int, wanted: frozenset[str]) -> None:
        """Let go of old snapshots, but for the wanted ones. In the background: this may take long."""
        await asyncio.to_thread(self._store.tidy, keep_days, wanted)

    def stop(self) -> None:
        """End what runs; nothing works after this."""
        self._store.stop()

    async def _run(self, work: Callable[[], T]) -> T:
        async with self._turn:
            return await asyncio.to_thread(work)

    def _take(self, *, gentle: bool) -> Snapshot:
        try:
            program()
        except GitFault as none:
            raise Refused(f"files are not recorded: {none}") from none
        return self._store.take(gentle=gentle)

    def _touched(self, stretches: Sequence[Stretch]) -> list[tuple[Wish, bool]]:
        found = wishes(self._store.trees, stretches)
        there = [(wish, self._disk.held(wish.path)) for wish in found]
        return [(wish, wish.edited or held != wish.have) for wish, held in there if held != wish.want]

    def _towards(self, wish: Wish) -> DiffView | None:
        have = wish.have
        if self._disk.held(wish.path) != have:  # edited since: what that edit would lose is to be seen
            have = self._store.trees.held(self._store.take().id, wish.path)
        return self._view(wish.path, have, wish.want)

    def _unreachable(self, paths: Sequence[str]) -> dict[str, str]:
        found = {path: self._why_not(path) for path in paths}
        return {path: why for path, why in found.items() if why}

    def _why_not(self, path: str) -> str:
        root, place = self._disk.root, Path(self._disk.root, path).resolve()
        if not place.is_relative_to(root):
            return OUTSIDE
        name, last = place.relative_to(root).as_posix(), self._store.last()
        if last is None or self._disk.held(name) is None or self._store.trees.held(last, name) is not None:
            return ""
        return self._store.trees.notes(last).skipped.get(name, IGNORED)

    def _restore(self, snapshot: str, paths: Sequence[str] | None, overwrite: frozenset[str]) -> RestoreResult:
        last = self._store.last()
        return self._take_back([Stretch(snapshot, last or snapshot)], paths, overwrite)

    def _take_back(
        self,
        stretches: Sequence[Stretch],
        paths: Sequence[str] | None,
        overwrite: frozenset[str],
        begun: Callable[[Snapshot], object] = lambda _: None,
    ) -> RestoreResult:
        before = self._store.take(durable=True)
        asked = wishes(self._store.trees, stretches, before.id)
        if paths is not None:
            asked = [wish for wish in asked if wish.path in paths]
        outcome = Restore(self._disk, self._store.trees, overwrite).run(asked, lambda: begun(before))
        after = self._store.take()
        return RestoreResult(before, after, outcome.written, outcome.removed, outcome.conflicts, outcome.failed)

    def _diff(self, before: str, after: str, path: str) -> DiffView | None:
        trees = self._store.trees
        return self._view(path, trees.held(before, path), trees.held(after, path))

    def _view(self, path: str, before: Held | None, after: Held | None) -> DiffView | None:
        oids = [held.oid for held in (before, after) if held is not None and held.oid]
        texts = dict(zip(oids, self._store.trees.contents(oids), strict=True))
        if any(b"\0" in text[:8000] or len(text) > _SHOWN for text in texts.values()):
            return None
        old, new = (texts.get(held.oid, b"").decode("utf-8", "replace") if held else "" for held in (before, after))
        return DiffView(path, old, new)
