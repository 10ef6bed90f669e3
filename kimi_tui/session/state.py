"""`state.json`: what a session remembers beside its log.

The keys that kimi-cli has too are written as it writes them; ours stand under `kimi_tui`.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from kimi_tui.protocol.views import Modes, TodoItem
from kimi_tui.session.peek import DRAFT, DRAFT_PARTS

STATE = "state.json"
DAMAGED = "state.damaged.json"
OURS = "kimi_tui"

_STATUSES = ("pending", "in_progress", "done")


@dataclass(slots=True)
class SessionState:
    """Modes, approvals, title, to-dos, model. Keys that are not known here are kept as they are."""

    plan: bool = False
    yolo: bool = False
    afk: bool = False
    approvals: tuple[str, ...] = ()
    """Rules that the user admitted for the whole session."""
    additional_dirs: tuple[str, ...] = ()
    title: str = ""
    """The user's own; empty: the first prompt stands for it."""
    todos: tuple[TodoItem, ...] = ()
    queued: tuple[str, ...] = ()
    """What waited to be sent when this was written."""
    model: str = ""
    """What the session talked to last; empty: the configured one."""
    api_base: str = ""
    """The endpoint that was named on the command line together with that model."""
    context_window: int | None = None
    """The same for the model's window, in tokens."""
    plan_file: str = ""
    work_dir: str = ""
    pinned: tuple[str, ...] = ()
    """Rotations that are never pruned."""
    pins: tuple[str, ...] = ()
    """Identities of messages that compactions keep word for word (`agent/pins.py`)."""
    beside: tuple[str, int] | None = None
    """A model, and the tokens that it has counted beside the messages: system prompt and tools."""
    rest: dict[str, Any] = field(default_factory=dict)
    """The document as it was read."""

    @property
    def modes(self) -> Modes:
        return Modes(plan=self.plan, yolo=self.yolo, afk=self.afk)

    def document(self) -> dict[str, Any]:
        """What is written: the document as read, with what is known here brought up to date."""
        return {
            "version": 1,
            **self.rest,
            "approval": {
                **_table(self.rest, "approval"),
                "yolo": self.yolo,
                "afk": self.afk,
                "auto_approve_actions": list(self.approvals),
            },
            "additional_dirs": list(self.additional_dirs),
            "custom_title": self.title or None,
            "plan_mode": self.plan,
            "todos": [{"title": item.title, "status": item.status} for item in self.todos],
            OURS: {
                **_table(self.rest, OURS),
                "queued": list(self.queued),
                "model": self.model,
                "api_base": self.api_base,
                "context_window": self.context_window,
                "plan_file": self.plan_file,
                "work_dir": self.work_dir,
                "pinned": list(self.pinned),
                "pins": list(self.pins),
                "beside": list(self.beside) if self.beside else None,
            },
        }


def state_from(document: dict[str, Any]) -> SessionState:
    """Takes what fits and lets go of what does not: a state of the wrong shape never stops a session."""
    approval, ours = _table(document, "approval"), _table(document, OURS)
    return SessionState(
        plan=document.get("plan_mode") is True,
        yolo=approval.get("yolo") is True,
        afk=approval.get("afk") is True,
        approvals=_texts(approval.get("auto_approve_actions")),
        additional_dirs=_texts(document.get("additional_dirs")),
        title=_text(document.get("custom_title")),
        todos=tuple(_todos(document.get("todos"))),
        queued=_texts(ours.get("queued")),
        model=_text(ours.get("model")),
        api_base=_text(ours.get("api_base")),
        context_window=_count(ours.get("context_window")),
        plan_file=_text(ours.get("plan_file")),
        work_dir=_text(ours.get("work_dir")),
        pinned=_texts(ours.get("pinned")),
        pins=_texts(ours.get("pins")),
        beside=_beside(ours.get("beside")),
        rest=document,
    )


def read_state(folder: Path) -> SessionState:
    """The state of a session folder, without touching anything; what cannot be read counts as not said."""
    return state_from(_read(folder / STATE)[0])


def load_state(folder: Path) -> tuple[SessionState, str]:
    """For the one who opens the session: the state, and a line for the user when the file was damaged.

    A damaged file is set aside as `state.damaged.json` (one, not a row of copies); what could be read of it is used.
    """
    document, damaged = _read(folder / STATE)
    if not damaged:
        return state_from(document), ""
    try:
        (folder / STATE).replace(folder / DAMAGED)
    except OSError:
        return state_from(document), f"{STATE} is damaged and could not be set aside"
    return state_from(document), f"{STATE} was damaged: kept as {DAMAGED}"


def is_damaged(folder: Path) -> bool:
    """Whether `state.json` is there and is not the one document that it should be. Changes nothing."""
    return _read(folder / STATE)[1]


def save_state(folder: Path, state: SessionState) -> None:
    """Replace the file in one step; mode 0600. Raises `OSError`."""
    state.rest = state.document()
    write_atomically(folder / STATE, json.dumps(state.rest, ensure_ascii=False, indent=2))


def sweep(folder: Path) -> None:
    """Remove what a killed write of a side file left. For whoever holds the session's lock."""
    for name in (STATE, DRAFT, DRAFT_PARTS):
        for stray in folder.glob(f"{_unfinished(name)}*"):
            with contextlib.suppress(OSError):
                stray.unlink()


def _unfinished(name: str) -> str:
    """How the new content of a file is called until it takes the old one's place."""
    return f".{name}."


def write_atomically(path: Path, text: str) -> None:
    """The old content or the new one, whatever happens; lone surrogates are replaced. Raises `OSError`."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_unfinished(path.name))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(path: Path) -> tuple[dict[str, Any], bool]:
    """The document, or the first whole one in a file that holds more; and whether the file is damaged."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace").strip()
    except OSError:
        return {}, False
    try:
        document, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}, True
    if not isinstance(document, dict):
        return {}, True
    return document, end != len(text)


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


def _beside(value: Any) -> tuple[str, int] | None:
    match value:
        case [str(model), int(tokens)] if type(tokens) is int and tokens >= 0:
            return model, tokens
    return None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _todos(value: Any) -> Iterable[TodoItem]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and isinstance(item.get("title"), str) and item.get("status") in _STATUSES:
            yield TodoItem(item["title"], cast(Literal["pending", "in_progress", "done"], item["status"]))
