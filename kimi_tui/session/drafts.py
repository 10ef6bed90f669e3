"""The unsent prompt of a session: `draft.json`, and `draft_parts.json` for what stands behind its tags.

The parts may be large and seldom change, so they are a file of their own. A session in which nothing was said yet keeps
its draft as well; a lock tells whether somebody still writes it, else the next new session of the folder takes it.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from kimi_tui.protocol.views import Draft
from kimi_tui.session.peek import DRAFT, DRAFT_LOCK, DRAFT_PARTS, has_messages
from kimi_tui.session.session import Session
from kimi_tui.session.state import sweep, write_atomically


class DraftFile:
    """Touches nothing on disk before there is something to keep."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock: _Lock | None = None
        self._parts: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        """Pastes and images as they are on the disk."""

    def load(self) -> Draft:
        """What was kept; empty when nothing was, or it cannot be read."""
        draft = _read(self._session.folder)
        self._parts = (draft.pastes, draft.images)
        return draft

    def save(self, draft: Draft) -> None:
        """Keep this; an empty one leaves no file. Raises `OSError` or `Fault`."""
        folder = self._session.folder
        if not draft.text.strip():
            self._forget(folder)
            return
        self._session.make()
        self._hold(folder)
        parts = (draft.pastes, draft.images)
        if parts != self._parts:
            written = {"pastes": draft.pastes, "images": draft.images}
            write_atomically(folder / DRAFT_PARTS, json.dumps(written, ensure_ascii=False))
            self._parts = parts
        write_atomically(folder / DRAFT, json.dumps({"text": draft.text}, ensure_ascii=False))

    def take_abandoned(self) -> Draft:
        """The newest draft of this folder that was left in a session in which nothing was said. It is this session's
        from now on. Raises `OSError` or `Fault`."""
        for folder in _abandoned(self._session):
            lock = _Lock(folder / DRAFT_LOCK)
            if not lock.take():
                continue
            try:
                draft = _read(folder)
                if draft.text.strip():
                    self.save(draft)
                    _remove(folder)
                    return draft
            finally:
                lock.release()
        return Draft()

    def close(self) -> None:
        """Somebody else may take the draft now."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
            (self._session.folder / DRAFT_LOCK).unlink(missing_ok=True)

    def _hold(self, folder: Path) -> None:
        if self._lock is None:
            lock = _Lock(folder / DRAFT_LOCK)
            self._lock = lock if lock.take() else None

    def _forget(self, folder: Path) -> None:
        for name in (DRAFT, DRAFT_PARTS):
            (folder / name).unlink(missing_ok=True)
        self._parts = ((), ())


class _Lock:
    """Whether somebody writes the draft. A file system that knows no locks lets everybody."""

    def __init__(self, path: Path) -> None:
        from kimi_tui.context.lock import SessionLock  # loads what finding a session does not need

        self._lock = SessionLock(path)

    def take(self) -> bool:
        try:
            return self._lock.acquire() is None
        except OSError:
            return True

    def release(self) -> None:
        self._lock.release()


def _abandoned(session: Session) -> list[Path]:
    """Folders beside the session's that hold an unsent draft and no conversation, the newest first."""
    found = []
    for path in session.folder.parent.glob(f"*/{DRAFT}"):
        with contextlib.suppress(OSError):
            if path.parent != session.folder and not has_messages(path.parent):
                found.append((path.stat().st_mtime, path.parent))
    return [folder for _, folder in sorted(found, reverse=True)]


def _remove(folder: Path) -> None:
    """The draft has another place now; with it goes the folder when there is nothing else in it."""
    sweep(folder)
    for name in (DRAFT, DRAFT_PARTS, DRAFT_LOCK):
        (folder / name).unlink(missing_ok=True)
    abandoned = Session(folder, folder)
    abandoned.drop_if_empty()


def _read(folder: Path) -> Draft:
    text = _document(folder / DRAFT).get("text")
    parts = _document(folder / DRAFT_PARTS)
    if not isinstance(text, str):
        return Draft()
    return Draft(text, _texts(parts.get("pastes")), _texts(parts.get("images")))


def _document(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    """All of them or none: the tags count them."""
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else ()
