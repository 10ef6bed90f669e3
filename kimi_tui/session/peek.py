"""A look into a session's log without opening it: is there anything, and what was it about?

Reads bytes and never writes: the log belongs to the engine, which may be at work in another process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CONTEXT = "context.jsonl"
DRAFT, DRAFT_PARTS, DRAFT_LOCK = "draft.json", "draft_parts.json", "draft.lock"

_ROTATION = re.compile(r"context_\d+\.jsonl(\.\w+)?")
_REMINDER = re.compile(r"\s*<system(-reminder)?>")
_BOOKKEEPING = {CONTEXT, "context.lock", "timeline.jsonl", "state.json", "state.damaged.json", DRAFT_LOCK}
_COUNT_UP_TO = 2_000_000
"""Bytes: a longer log is not counted, only opened at its head."""
_LINE_LIMIT = 4_000_000


def has_messages(folder: Path) -> bool:
    """Whether there is a conversation: a message in the log, or a timeline that was left behind."""
    return next(_messages(folder / CONTEXT), None) is not None or bool(rotations(folder))


def holds_nothing(folder: Path) -> bool:
    """Whether the folder may be thrown away: certain that nothing was said, not just that nothing can be read."""
    try:
        names = {path.name for path in folder.iterdir()}
        log = (folder / CONTEXT).read_bytes() if CONTEXT in names else b""
    except OSError:
        return False
    lines = [line for line in log.split(b"\n") if line.strip()]
    return names <= _BOOKKEEPING and all(str(_record(line).get("role", "")).startswith("_") for line in lines)


def rotations(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if _ROTATION.fullmatch(path.name)]
    except OSError:
        return []


def first_prompt(context_file: Path) -> str:
    """The first thing the user said, on one line; empty when it was nothing in words."""
    for message in _messages(context_file):
        text = _text_of(message)
        if message.get("role") == "user" and text.strip() and not is_reminder(text):
            return " ".join(text.split())
    return ""


def is_reminder(text: str) -> bool:
    """Whether a user message is not the user's but the program's: a visible checkpoint, a reminder."""
    return _REMINDER.match(text) is not None


def count_messages(context_file: Path) -> int | None:
    """How many messages the log holds; None for a log so long that counting would be felt."""
    try:
        if context_file.stat().st_size > _COUNT_UP_TO:
            return None
    except OSError:
        return None
    return sum(1 for _ in _messages(context_file))


def _messages(context_file: Path) -> Iterator[dict[str, Any]]:
    try:
        with context_file.open("rb") as file:
            while line := file.readline(_LINE_LIMIT):
                record = _record(line)
                if not str(record.get("role", "_")).startswith("_"):
                    yield record
    except OSError:
        return


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line.removeprefix(b"\xef\xbb\xbf"), strict=False)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return " ".join(text for text in texts if isinstance(text, str))
