"""What other sessions left running when their program was killed."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.background.identity import is_alive
from kimi_tui.background.ledger import Ledger, ledger_file


def left_over(sessions: Path, open_one: Path) -> list[Path]:
    """Folders of sessions with tasks that still run though their program does not. Reads files: for a worker thread."""
    pattern = ledger_file(Path("*", "*")).as_posix()
    folders = (file.parent.parent for file in sorted(sessions.glob(pattern)))
    return [folder for folder in folders if folder != open_one and _runs_on(folder)]


def _runs_on(folder: Path) -> bool:
    return any(
        task.running and not is_alive(task.owner, task.owner_born) and is_alive(task.keeper, task.keeper_born)
        for task in Ledger(ledger_file(folder)).read().values()
    )
