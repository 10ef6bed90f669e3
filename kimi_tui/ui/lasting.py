"""An output that outlasts its terminal.

When a terminal window is closed, every write fails. Textual writes in a thread, which would end with the first error;
the app would then wait for ever for room in that thread's queue and could not close the session's files.
"""

from __future__ import annotations

from contextlib import suppress
from typing import IO

from kimi_tui.ui.in_place import in_place


class LastingOutput:
    """Looks like the file it wraps; what can no longer be written is dropped, and what stands in a row stays there."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._file.write(in_place(text))
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()
