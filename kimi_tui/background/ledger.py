"""The ledger of a session's tasks: `tasks.jsonl`, one line a change, only ever appended to.

A line names a task and what is new about it; the lines of one task, laid over each other, are the task.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kimi_tui.background.task import Task, from_record


class Ledger:
    """Written by the program that has the session; read by anybody."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def add(self, task_id: str, **new: Any) -> None:
        """Append one line. Raises OSError."""
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = json.dumps({"id": task_id, **new}, ensure_ascii=True, separators=(",", ":"))
        with self.file.open("ab") as file:
            file.write(b"\n" + line.encode() if _torn(self.file) else line.encode())
            file.write(b"\n")

    def read(self) -> dict[str, Task]:
        """The tasks by id, oldest first. Lines that cannot be read are left out; a file that cannot be, is empty."""
        try:
            lines = self.file.read_bytes().split(b"\n")
        except OSError:
            return {}
        records: dict[str, dict[str, Any]] = {}
        for line in lines:
            record = _record(line)
            if record is not None:
                records.setdefault(record["id"], {}).update(record)
        found = {task_id: from_record(record) for task_id, record in records.items()}
        return {task_id: task for task_id, task in found.items() if task is not None}


def ledger_file(folder: Path) -> Path:
    """Where the session in that folder keeps the ledger of its tasks."""
    return folder / "tasks" / "tasks.jsonl"


def _torn(file: Path) -> bool:
    """Whether the last line was cut off in the middle."""
    with file.open("rb") as reader:
        if not reader.seek(0, os.SEEK_END):
            return False
        reader.seek(-1, os.SEEK_END)
        return reader.read() != b"\n"


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("id"), str) else None
