"""Which sessions there are: ours and kimi-cli's, found from the folders themselves.

Nothing here trusts an index: stray files, broken links, empty folders and damaged metadata are passed over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kimi_tui import places
from kimi_tui.protocol.views import SessionView
from kimi_tui.session import kimi_cli
from kimi_tui.session.peek import CONTEXT, count_messages, first_prompt, has_messages, rotations
from kimi_tui.session.session import Session, SessionFault, hash_of
from kimi_tui.session.state import OURS, read_state

_TITLE = 80
"""Letters of a first prompt that stand for a title."""

Locked = Callable[[Path], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """A session folder, before anything but names and times was read."""

    folder: Path
    at: float
    """When its log last changed."""
    work_dir: str
    """Empty when nobody knows any more."""
    ours: bool


def last_session(work_dir: Path) -> Session | None:
    """The newest session of the folder in which something was said; kimi-cli's only where there is none of ours."""
    here = [found for found in _newest_first(_all()) if _same_place(found, work_dir)]
    here.sort(key=lambda found: not found.ours)
    newest = next((found for found in here if has_messages(found.folder)), None)
    return Session(newest.folder, work_dir) if newest else None


def find_session(session_id: str, work_dir: Path) -> Session:
    """The session of that id, or of the one id that starts so. It is resumed where it was at work, if that still
    exists. Raises `SessionFault`."""
    candidates = [found for found in _newest_first(_all()) if session_id and found.folder.name.startswith(session_id)]
    exact = [found for found in candidates if found.folder.name == session_id]
    matches = exact or candidates
    if not matches:
        raise SessionFault(f"no session {session_id!r}.", hint="`kimi-tui sessions` lists them.")
    here = [found for found in matches if _same_place(found, work_dir)]
    chosen = here or matches
    if len(chosen) > 1 and not exact:
        shown = ", ".join(found.folder.name for found in chosen[:3])
        raise SessionFault(f"{session_id!r} names {len(chosen)} sessions: {shown}.", hint="Give more of the id.")
    own = Path(chosen[0].work_dir) if chosen[0].work_dir else work_dir
    return Session(chosen[0].folder, work_dir if here or not own.is_dir() else own)


def session_at(path: Path, work_dir: Path) -> Session:
    """The session in a folder (or of a log's path), wherever it lies. Raises `SessionFault`."""
    path = path.expanduser().absolute()
    folder = path.parent if path.name == CONTEXT else path
    if not folder.is_dir():
        raise SessionFault(f"no session folder {folder}")
    if not (folder / CONTEXT).exists() and not rotations(folder):
        raise SessionFault(f"no session in {folder}: it holds no {CONTEXT}")
    return Session(folder, work_dir)


def open_elsewhere(folder: Path) -> bool:
    """Whether another process writes the session now."""
    from kimi_tui.context.lock import SessionLock  # loads pydantic, which finding a session does not need

    holder = SessionLock(folder / "context.lock").holder()
    return holder is not None and holder.pid != os.getpid()


def list_sessions(work_dir: Path, locked: Locked = open_elsewhere) -> list[SessionView]:
    """Every session in which something was said: this folder's first, the newest first among each."""
    found = [item for item in _newest_first(_all()) if has_messages(item.folder)]
    here = {item.folder for item in found if _same_place(item, work_dir)}
    found.sort(key=lambda item: item.folder not in here)
    return [_view(item, locked) for item in found]


def _view(found: Found, locked: Locked) -> SessionView:
    state = read_state(found.folder)
    log = found.folder / CONTEXT
    return SessionView(
        path=str(found.folder),
        id=found.folder.name,
        title=state.title or first_prompt(log)[:_TITLE],
        work_dir=found.work_dir,
        at=found.at,
        size=_size(found.folder),
        messages=count_messages(log),
        foreign=not found.ours and OURS not in state.rest,
        locked=locked(found.folder),
    )


def _all() -> Iterator[Found]:
    for place in _folders(places.sessions_folder()):
        sessions = [*_sessions_in(place)]
        work_dir = next((path for folder, _ in sessions if (path := read_state(folder).work_dir)), "")
        yield from (Found(folder, at, work_dir, ours=True) for folder, at in sessions)
    known = kimi_cli.known_work_dirs()
    for place in _folders(kimi_cli.sessions_folder()):
        for folder, at in _sessions_in(place):
            yield Found(folder, at, known.get(place.name, ""), ours=False)


def _sessions_in(place: Path) -> Iterator[tuple[Path, float]]:
    for folder in _folders(place):
        try:
            yield folder, (folder / CONTEXT).stat().st_mtime
        except OSError:
            left = rotations(folder)
            if left:
                yield folder, max(_changed(path) for path in left)


def _folders(place: Path) -> list[Path]:
    try:
        return [path for path in place.iterdir() if _is_folder(path)]
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _newest_first(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda item: (item.at, item.folder.name), reverse=True)


def _same_place(found: Found, work_dir: Path) -> bool:
    """Whether the session belongs to this folder, by whatever name: links are followed on both sides."""
    name = found.folder.parent.name
    if found.ours and name == hash_of(work_dir):
        return True
    if found.work_dir:
        return Path(found.work_dir).resolve() == work_dir.resolve()
    return not found.ours and name in {kimi_cli.hash_of(path) for path in _spellings(work_dir)}


def _spellings(work_dir: Path) -> set[str]:
    """The ways in which a folder may have been written down: as given, with links followed, as the shell names it."""
    shell = os.environ.get("PWD", "")
    paths = {str(work_dir.absolute()), str(work_dir.resolve())}
    if shell and Path(shell).resolve() == work_dir.resolve():
        paths.add(shell)
    return paths


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    try:
        return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return 0
