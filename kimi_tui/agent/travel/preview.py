"""What would go if the user went back: counted before anything is touched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.agent.marks import is_prompt, meta, said
from kimi_tui.agent.travel.rows import mark_named, rotation_path
from kimi_tui.agent.travel.spans import owner
from kimi_tui.context import CheckpointRef
from kimi_tui.context.reading import read_file
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import FileTouched, RevertPreview

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk
    from kimi_tui.protocol.commands import PreviewRevert

_CHANGING = {"WriteFile", "StrReplaceFile"}
_SLACK = 2.0
"""Seconds between the model's call and the file's time stamp that are the tool's own work."""


def preview(desk: Desk, command: PreviewRevert) -> RevertPreview:
    """Runs in a worker: looks at the dropped messages and at the files they touched. Raises ValueError."""
    context = desk.context
    if command.file and command.file != context.file_backend.name:
        return _into_rotation(desk, command)
    if command.checkpoint is None:
        raise ValueError("Which checkpoint? None was named.")
    marks, history = context.checkpoints, context.history
    named = mark_named(context, command.checkpoint, command.offset)
    index = owner(history, marks, marks.index(named))
    mark = marks[index]
    dropped = history[mark.history_index :]
    return RevertPreview(
        checkpoint=mark.id,
        file=None,
        steps=sum(message.role == "assistant" for message in dropped),
        messages=len(dropped),
        tokens=desk.total - desk.scale(mark.tokens_now(), mark.counted),
        tool_calls=sum(len(message.tool_calls or ()) for message in dropped),
        files=tuple(touched(dropped, desk.session.work_dir)),
        tasks=tuple(_still_running(desk, dropped)),
        prompt=_prompt(dropped),
        first_dropped=desk.transcript.first_of(mark.history_index),
    )


def _into_rotation(desk: Desk, command: PreviewRevert) -> RevertPreview:
    """Going into a rotation: what would be left out of it, and how the token count would change."""
    assert command.file is not None
    past, _ = read_file(rotation_path(desk, command.file))
    past.history.calibration = desk.context.calibration
    kept, tokens = len(past.history), desk.scale(past.tokens, past.counted)
    if command.checkpoint is not None:
        mark = past.find(CheckpointRef(command.checkpoint, command.offset))
        kept, tokens = mark.history_index, desk.scale(mark.tokens_now(), mark.counted)
    dropped = past.history[kept:]
    return RevertPreview(
        checkpoint=command.checkpoint,
        file=command.file,
        steps=sum(message.role == "assistant" for message in dropped),
        messages=len(dropped),
        tokens=desk.total - tokens,
        prompt=_prompt(dropped),
    )


def _prompt(dropped: Sequence[Message]) -> str:
    first = next((message for message in dropped if message.role == "assistant" or is_prompt(message)), None)
    return said(first) if first is not None and first.role == "user" else ""


def _still_running(desk: Desk, dropped: Sequence[Message]) -> Iterator[str]:
    """Background tasks that these messages started and that would go on running."""
    results = [message.text() for message in dropped if message.role == "tool"]
    for task in desk.tasks.running() if desk.tasks else ():
        if any(task.id in text for text in results):
            yield task.command


def touched(messages: Sequence[Message], work_dir: Path) -> Iterator[FileTouched]:
    """Files that these messages' calls wrote, each once, in order."""
    last: dict[str, float | None] = {}
    for message in messages:
        for path in _written(message):
            last[path] = meta(message).get("at")
    for path, at in last.items():
        yield FileTouched(path, _changed_since(work_dir / path, at))


def _written(message: Message) -> Iterator[str]:
    for call in message.tool_calls or ():
        if call.function.name not in _CHANGING:
            continue
        try:
            path = json.loads(call.function.arguments or "").get("path")
        except (ValueError, AttributeError):
            continue
        if isinstance(path, str) and path:
            yield path


def _changed_since(path: Path, at: object) -> bool | None:
    """Whether somebody else has written the file since; None when that cannot be told."""
    if not isinstance(at, int | float):
        return None
    try:
        return path.stat().st_mtime > at + _SLACK
    except OSError:
        return True
