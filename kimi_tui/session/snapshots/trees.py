"""Reads snapshots: what differs between them, and what stood at a path. Needs no work tree."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from kimi_tui.session.snapshots.git import Git, GitFault
from kimi_tui.session.snapshots.values import FILE, FOLDER, LINK, PROGRAM, Change, ChangeKind, FileChange, Held, Notes

_REMEMBERED = 64
_NOTHING = "000000"
_FILES = "files/"

Raw = tuple[str, str, str, str, str]
"""Mode before and after, name before and after, path: of the tree that holds files and notes."""


class Trees:
    """Raises GitFault for a snapshot that is no longer there."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._notes: OrderedDict[str, Notes] = OrderedDict()

    def notes(self, snapshot: str) -> Notes:
        """What was noted about a snapshot."""
        found = self._notes.get(snapshot)
        if found is None:
            found = self._notes[snapshot] = Notes.decode(self._git.run("cat-file", "blob", f"{snapshot}:notes"))
            while len(self._notes) > _REMEMBERED:
                self._notes.popitem(last=False)
        return found

    def diffs(self, pairs: Sequence[tuple[str, str]]) -> list[list[Change]]:
        """What differs in each pair of snapshots, in one go."""
        different = [f"{before} {after}\n" for before, after in pairs if before != after]
        how = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--full-index")
        told = _told(self._git.run(*how, given="".join(different).encode())) if different else {}
        if len(told) < len(set(different)):
            raise GitFault("the files of that time are no longer kept")
        return [self._changes(before, after, told.get((before, after), [])) for before, after in pairs]

    def require(self, oids: Iterable[str]) -> None:
        """Raises GitFault unless all these contents are there."""
        asked = "".join(f"{oid}\n" for oid in oids)
        if b" missing\n" in self._git.run("cat-file", "--batch-check", given=asked.encode()):
            raise GitFault("some files of that time are no longer kept")

    def changes(self, before: str, after: str) -> list[FileChange]:
        """The same as it is shown."""
        return self.shown(self.diffs([(before, after)])[0])

    def shown(self, changes: Sequence[Change]) -> list[FileChange]:
        """With sizes, and whether the content is text."""
        sides = [held for change in changes for held in (change.before, change.after) if held is not None]
        oids = sorted({held.oid for held in sides if held.oid})
        facts = {oid: (len(data), b"\0" in data[:8000]) for oid, data in zip(oids, self.contents(oids), strict=True)}
        return [_shown(change, facts) for change in changes]

    def contents(self, oids: Iterable[str]) -> Iterator[bytes]:
        """What the names stand for, in this order."""
        return self._git.contents(oids)

    def held(self, snapshot: str, path: str) -> Held | None:
        """What stands at a path."""
        listed = self._git.run("ls-tree", "-z", "--full-tree", snapshot, "--", _FILES + path)
        if not listed:
            return Held(FOLDER) if path in self.notes(snapshot).folders else None
        mode, _, oid = listed.split(b"\t")[0].decode().split()
        return None if mode == FOLDER else self._held(snapshot, path, mode, oid)

    def _changes(self, before: str, after: str, raw: Sequence[Raw]) -> list[Change]:
        found: dict[str, Change] = {}
        for old_mode, new_mode, old, new, name in raw:
            if name.startswith(_FILES):
                path = name.removeprefix(_FILES)
                sides = self._held(before, path, old_mode, old), self._held(after, path, new_mode, new)
                found[path] = Change(path, *sides)
        if any(name == "notes" for *_, name in raw):
            self._noted(before, after, found)
        return [change for _, change in sorted(found.items()) if change.before != change.after]

    def _noted(self, before: str, after: str, found: dict[str, Change]) -> None:
        """Fold in what only the notes tell: permissions, and empty folders."""
        old, new = self.notes(before), self.notes(after)
        for path, _ in set(old.perms.items()) ^ set(new.perms.items()):
            if path not in found:
                found[path] = Change(path, self.held(before, path), self.held(after, path))
        for path in old.folders ^ new.folders:
            known = found.get(path, Change(path, None, None))  # a file may have become a folder, or the other way
            if path in old.folders:
                found[path] = Change(path, Held(FOLDER), known.after)
            else:
                found[path] = Change(path, known.before, Held(FOLDER))

    def _held(self, snapshot: str, path: str, mode: str, oid: str) -> Held | None:
        if mode == _NOTHING:
            return None
        return Held(mode, oid, self.notes(snapshot).perm(path, mode))


def _told(out: bytes) -> dict[tuple[str, str], list[Raw]]:
    """What `diff-tree --stdin -z` prints: a line for each pair, then its records, all in one stream."""
    told: dict[tuple[str, str], list[Raw]] = {}
    records: list[Raw] = []
    position = 0
    while position < len(out):
        if out[position : position + 1] != b":":
            stop = out.index(b"\n", position)
            before, after = out[position:stop].decode().split()
            records = told.setdefault((before, after), [])
            position = stop + 1
            continue
        about_stop = out.index(b"\0", position)
        name_stop = out.index(b"\0", about_stop + 1)
        old_mode, new_mode, old, new, _ = out[position + 1 : about_stop].decode().split()
        records.append((old_mode, new_mode, old, new, os.fsdecode(out[about_stop + 1 : name_stop])))
        position = name_stop + 1
    return told


def _shown(change: Change, facts: dict[str, tuple[int, bool]]) -> FileChange:
    before, after = change.before, change.after
    size = {oid: about[0] for oid, about in facts.items()}
    return FileChange(
        path=change.path,
        kind=_kind(before, after),
        size_before=size.get(before.oid) if before else None,
        size_after=size.get(after.oid) if after else None,
        binary=any(facts[held.oid][1] for held in (before, after) if held and held.mode in (FILE, PROGRAM)),
    )


def _kind(before: Held | None, after: Held | None) -> ChangeKind:
    modes = {held.mode for held in (before, after) if held is not None}
    if FOLDER in modes:
        return "folder"
    if LINK in modes:
        return "link"
    if before is None or after is None:
        return "added" if before is None else "deleted"
    return "mode" if before.oid == after.oid else "modified"
