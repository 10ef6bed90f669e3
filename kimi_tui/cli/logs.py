"""The log file: `logs/kimi-tui.log` in the data folder, rotated, with keys struck out. Never a reason to stop."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kimi_tui.cli.secrets import masked
from kimi_tui.places import logs_folder

_SIZE = 1_000_000
_KEPT = 3


class _Masking(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


def start_logging() -> None:
    """Warnings and worse (all, with KIMI_TUI_DEBUG) go to the log file; one that cannot be written is done without."""
    root = logging.getLogger()
    root.setLevel(logging.DEBUG if os.environ.get("KIMI_TUI_DEBUG") else logging.WARNING)
    logging.raiseExceptions = False
    handler = _handler()
    root.addHandler(handler or logging.NullHandler())


def log_failure(error: BaseException) -> Path | None:
    """Write the traceback down; the file, or None when that was not possible."""
    handler = _handler()
    if handler is None:
        return None
    record = logging.LogRecord("kimi_tui", logging.ERROR, "", 0, "internal fault", None, None)
    record.exc_info = (type(error), error, error.__traceback__)
    handler.handle(record)
    handler.close()
    return Path(handler.baseFilename)


def _handler() -> RotatingFileHandler | None:
    folder = logs_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = RotatingFileHandler(folder / "kimi-tui.log", maxBytes=_SIZE, backupCount=_KEPT, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(_Masking("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler
