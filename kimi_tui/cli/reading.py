"""Opens a session for a command that only looks: PATH is a folder, a log in it, or a session's id."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.context import Context, Projection, read_timeline_file
from kimi_tui.session import Session, SessionFault, find_session, session_at
from kimi_tui.session.peek import first_prompt
from kimi_tui.session.state import read_state

_LOG = re.compile(r"context(_\d+)?\.jsonl(\.\w+)?")


@dataclass(frozen=True, slots=True)
class Named:
    """What a PATH meant: a session, and which of its files."""

    session: Session
    file: str

    @property
    def title(self) -> str:
        return read_state(self.session.folder).title or first_prompt(self.session.context_file)[:80]

    @property
    def work_dir(self) -> str:
        return read_state(self.session.folder).work_dir


def named(path: str) -> Named:
    """Raises `SessionFault`: nothing of that name."""
    here = Path.cwd()
    given = Path(path).expanduser()
    if _LOG.fullmatch(given.name) and given.is_file():
        return Named(Session(given.absolute().parent, here), given.name)
    if given.exists() or "/" in path:
        session = session_at(given, here)
    else:
        session = find_session(path, here)
    return Named(session, session.context_file.name)


def open_context(session: Session) -> Context:
    """The session for reading: no lock is taken, nothing is mended. Raises `SessionFault`."""
    context = Context(session.context_file, read_only=True)
    try:
        asyncio.run(context.restore())
    except OSError as error:
        raise unreadable(session.context_file, error) from error
    return context


def read_projection(folder: Path, file: str) -> Projection:
    """One timeline's messages and checkpoints. Raises `SessionFault`."""
    try:
        return asyncio.run(read_timeline_file(folder / file))
    except OSError as error:
        raise unreadable(folder / file, error) from error


def unreadable(path: Path, error: OSError) -> SessionFault:
    return SessionFault(f"cannot read {path}: {error.strerror or error}")
