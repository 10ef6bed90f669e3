"""A session is a folder: `sessions/<hash of the work dir>/<session id>/` with `context.jsonl` in it."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import shutil
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from kimi_tui.faults import Fault
from kimi_tui.places import make_private, sessions_folder
from kimi_tui.session.peek import CONTEXT, DRAFT, DRAFT_PARTS, has_messages, holds_nothing
from kimi_tui.session.state import SessionState, load_state, read_state, save_state, sweep

_numbers = count(secrets.randbelow(1 << 24))
"""By chance where it begins; never the same twice in one process."""
_NOT_COPIED = ("*.lock", ".*", "*.tmp", "tasks", DRAFT, DRAFT_PARTS)


class SessionFault(Fault):
    """A session that cannot be found, read or made."""


@dataclass(frozen=True, slots=True)
class Session:
    """Where a session lives. Making one of these touches nothing on disk."""

    folder: Path
    work_dir: Path

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def context_file(self) -> Path:
        return self.folder / CONTEXT

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()

    @property
    def is_ours(self) -> bool:
        """It lies in the data folder, and not where somebody else may have put it."""
        return sessions_folder().resolve() in self.folder.resolve().parents

    @property
    def is_empty(self) -> bool:
        return not has_messages(self.folder)

    def make(self) -> None:
        """Create the folder. Raises `Fault` with the path."""
        make_private(self.folder)

    def drop_if_empty(self) -> None:
        """Leave no trace of a session in which nothing was said. Only ever removes a folder of our own."""
        if self.is_ours and holds_nothing(self.folder) and not read_state(self.folder).title:
            shutil.rmtree(self.folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                self.folder.parent.rmdir()

    def load_state(self) -> tuple[SessionState, str]:
        """The state, and a line for the user when the file was damaged and has been set aside."""
        return load_state(self.folder)

    def sweep(self) -> None:
        """Remove what a killed run left half written. For whoever holds the session's lock."""
        sweep(self.folder)

    def save_state(self, state: SessionState) -> None:
        """Write `state.json` in one step, making the folder if need be. Raises `OSError` or `Fault`."""
        self.make()
        state.work_dir = str(self.work_dir)
        save_state(self.folder, state)


def new_session(work_dir: Path) -> Session:
    """A session yet to be made."""
    return Session(folder_of(work_dir) / new_id(), work_dir)


def fork_session(session: Session) -> Session:
    """A copy under a new id, in the work dir's own folder. Runs in a worker: it copies every timeline."""
    copy = new_session(session.work_dir)
    make_private(copy.folder.parent)
    shutil.copytree(session.folder, copy.folder, ignore=shutil.ignore_patterns(*_NOT_COPIED))
    state = read_state(copy.folder)
    state.title = f"{state.title} (fork)" if state.title else ""
    copy.save_state(state)
    return copy


def remove_session(folder: Path) -> None:
    """Delete a session's folder and all in it. Raises `SessionFault` for anything that is no session."""
    if not (folder / CONTEXT).is_file():
        raise SessionFault(f"no session in {folder}: it holds no {CONTEXT}")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise SessionFault(f"cannot delete {folder}: {error.strerror or error}") from error


def folder_of(work_dir: Path) -> Path:
    """Where the sessions of a work dir are made. Links are followed, so that one folder has one place."""
    return sessions_folder() / hash_of(work_dir)


def hash_of(work_dir: Path) -> str:
    real = str(work_dir.resolve())
    return hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def new_id() -> str:
    """Sorts by time, and is unique between processes: `20261130-184512-3fa9c1`."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{next(_numbers) % (1 << 24):06x}"
