"""Taking back what was done to files, and only that.

The past is a chain of stretches: in some of them we (the agent, or an earlier restore) were at work, between them
somebody else was. Only what changed in our stretches is taken back, to what it was before our first one. A file that
somebody else has changed since is left alone unless it is asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kimi_tui.protocol.views import FileFate
from kimi_tui.session.snapshots.disk import WorkTree
from kimi_tui.session.snapshots.trees import Trees
from kimi_tui.session.snapshots.values import FOLDER, Change, Held, Kept

EDITED = "edited since"
UNRECORDED = "ignored, too large or just being changed: it could not be put back"


@dataclass(frozen=True, slots=True)
class Stretch:
    """The ids of the snapshots on either side of one of our stretches."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Wish:
    """One path to be put back."""

    path: str
    want: Held | None
    """As it was before we first touched it."""
    have: Held | None
    """As we left it."""
    now: Held | None
    """As the newest snapshot has it."""
    mixed: bool = False
    """Somebody else changed it between two of our stretches."""

    @property
    def edited(self) -> bool:
        return self.mixed or self.now != self.have

    @property
    def change(self) -> FileFate:
        """What going back would do to the file; empty for folders."""
        if any(side is not None and side.mode == FOLDER for side in (self.want, self.have)):
            return ""
        return "deleted" if self.want is None else "recreated" if self.now is None else "rewritten"


def chain(stretches: Sequence[Stretch], present: str | None = None) -> list[tuple[bool, str, str]]:
    """Our stretches and the gaps between them, up to the present, each with whether it is ours."""
    links: list[tuple[bool, str, str]] = []
    for stretch in stretches:
        if links:
            links.append((False, links[-1][2], stretch.before))
        links.append((True, stretch.before, stretch.after))
    if links and present is not None:
        links.append((False, links[-1][2], present))
    return links


def wishes(trees: Trees, stretches: Sequence[Stretch], present: str | None = None) -> list[Wish]:
    """What may have to be put back, by path. Raises GitFault for a snapshot that is no longer kept."""
    links = chain(stretches, present)
    diffs = trees.diffs([(before, after) for _, before, after in links])
    found: dict[str, Wish] = {}
    for (ours, *_), changes in zip(links, diffs, strict=True):
        for change in changes:
            _fold(found, change, ours=ours)
    return [wish for _, wish in sorted(found.items())]


def _fold(found: dict[str, Wish], change: Change, *, ours: bool) -> None:
    wish = found.get(change.path)
    if wish is None:
        if ours:
            found[change.path] = Wish(change.path, change.before, change.after, change.after)
    elif ours:
        found[change.path] = replace(wish, have=change.after, now=change.after, mixed=wish.edited)
    else:
        found[change.path] = replace(wish, now=change.after)


@dataclass(frozen=True, slots=True)
class Outcome:
    written: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Kept, ...]
    failed: tuple[Kept, ...]


class Restore:
    """Carries wishes out. Nothing is touched that is not exactly what the newest snapshot holds."""

    def __init__(self, disk: WorkTree, trees: Trees, overwrite: frozenset[str] = frozenset()) -> None:
        """`overwrite`: paths to put back although somebody else has edited them."""
        self._disk, self._trees, self._overwrite = disk, trees, overwrite
        self._written: list[str] = []
        self._removed: list[str] = []
        self._conflicts: list[Kept] = []
        self._failed: list[Kept] = []

    def run(self, asked: Iterable[Wish], begun: Callable[[], object] = lambda: None) -> Outcome:
        """Raises GitFault, and what `begun` raises, before anything is touched; what the file system refuses is told in
        the outcome. `begun` is called right before the first change."""
        due = [wish for wish in asked if self._may(wish)]
        files = [(wish.path, wish.want) for wish in due if wish.want is not None and not _is_folder(wish.want)]
        folders = frozenset(wish.path for wish in due if _is_folder(wish.want))
        self._trees.require(want.oid for _, want in files)
        begun()
        self._remove(
            [wish for wish in due if wish.want is None or _is_folder(wish.want) != _is_folder(wish.now)], folders
        )
        self._write(files)
        for path in sorted(folders):
            self._attempt(path, self._disk.make_folder, path)
        return Outcome(tuple(self._written), tuple(self._removed), tuple(self._conflicts), tuple(self._failed))

    def _may(self, wish: Wish) -> bool:
        there = self._disk.held(wish.path)
        if there == wish.want:
            return False
        if (there is None or _is_folder(there)) and (_is_folder(wish.want) or _is_folder(wish.now)):
            return True
        why = UNRECORDED if there != wish.now else EDITED if wish.edited and wish.path not in self._overwrite else ""
        if why:
            self._conflicts.append(Kept(wish.path, why))
        return not why

    def _remove(self, due: Iterable[Wish], keep: frozenset[str]) -> None:
        """Deepest first: a folder can only go when it is empty."""
        for wish in sorted(due, key=lambda wish: wish.path.count("/"), reverse=True):
            if _is_folder(wish.now):
                self._disk.drop_folder(wish.path, keep)
            elif wish.now is not None and self._attempt(wish.path, self._disk.remove, wish.path, keep):
                self._removed.append(wish.path)

    def _write(self, files: Sequence[tuple[str, Held]]) -> None:
        contents = self._trees.contents([want.oid for _, want in files])
        for (path, want), data in zip(files, contents, strict=True):
            if self._attempt(path, self._disk.write, path, want, data):
                self._written.append(path)

    def _attempt(self, path: str, work: Callable[..., None], *given: object) -> bool:
        try:
            work(*given)
        except OSError as fault:
            self._failed.append(Kept(path, fault.strerror or str(fault)))
            return False
        return True


def _is_folder(held: Held | None) -> bool:
    return held is not None and held.mode == FOLDER
