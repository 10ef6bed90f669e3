"""Lines from the keyboard, lines to the terminal. Nothing here moves the cursor, colours or redraws."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import Any

from kimi_tui.faults import Fault
from kimi_tui.literal import literal

PROMPT, MORE = "> ", ". "
_LONGEST = 1 << 16
"""Bytes of a line; a terminal's own limit is far lower."""


def require_keyboard() -> None:
    """Raise `Fault` unless somebody can type."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise Fault("standard input is not a terminal.", hint="Without one: kimi-tui -p PROMPT.")


class Console:
    """Readline edits the line where there is one; it recalls what was typed before, and nothing that was only an
    answer to a question."""

    def __init__(self) -> None:
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # bytes that are no text end nothing
        self.hears = os.name == "posix" and sys.stdin.isatty()
        """Whether it can be told what is typed while something runs."""
        self._readline = _readline() if sys.stdin.isatty() and sys.stdout.isatty() else None

    def say(self, lines: Iterable[str]) -> None:
        """Print texts of anybody's; each may hold several lines."""
        for line in lines:
            print(literal(line), flush=True)

    def recall(self, prompts: Iterable[str]) -> None:
        """These can be fetched with the arrow keys, the last one first."""
        for text in prompts:
            if self._readline is not None and text.strip():
                self._readline.add_history(" ".join(text.splitlines()))

    def prompt(self, draft: str = "") -> str:
        """What the user has to say: one line, or several where each but the last ends in a backslash.

        Raises `EOFError` and `KeyboardInterrupt`."""
        lines = [self.ask(PROMPT, draft)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self.ask(MORE))
        text = "\n".join(lines)
        self.recall([text])
        return text

    def heard(self) -> str | None:
        """A line that was typed while none was asked for; None without one. Only a terminal can tell, and only it is
        looked at. Raises `EOFError` when it has gone."""
        if not self.hears or not select.select([sys.stdin], [], [], 0)[0]:
            return None
        try:
            data = os.read(sys.stdin.fileno(), _LONGEST)
        except OSError:
            raise EOFError from None
        return data.decode(sys.stdin.encoding or "utf-8", "replace").rstrip("\n")

    def ask(self, prompt: str, draft: str = "") -> str:
        """One line. `draft` stands in it already, where it can be edited; else it is shown above."""
        if not draft:
            return input(prompt)
        if self._readline is None or "\n" in draft:
            print(literal(draft), flush=True)
            return input(prompt)
        readline = self._readline
        readline.set_startup_hook(lambda: readline.insert_text(literal(draft)))
        try:
            return input(prompt)
        finally:
            readline.set_startup_hook()


def _readline() -> Any:
    """The module, set up to write nothing but what is typed; None where there is none."""
    with contextlib.suppress(ImportError):
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")
        readline.parse_and_bind("set enable-meta-key off")
        readline.set_auto_history(False)
        return readline
    return None
