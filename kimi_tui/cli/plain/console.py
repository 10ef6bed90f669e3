"""Lines from the keyboard, lines to the terminal. Nothing here moves the cursor, colours or redraws."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Callable, Iterable
from functools import partial
from io import TextIOWrapper
from typing import Any

from kimi_tui.cli.plain.giving_way import POSSIBLE, GivingWay
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
        self._giving: GivingWay | None = None
        self._at_prompt = False
        self._lines: list[str] = []
        """Of the prompt that is being typed, without the last one."""
        self._held: list[str] = []

    def give_way(self, waiting: Callable[[], bool], heed: Callable[[], bool]) -> Callable[[], None]:
        """From now on `prompt` raises `GaveWay` when `heed` says so. It is asked when there is something `waiting` and
        the function that is returned was called, from any thread. Without readline nobody knows what has been typed:
        nothing gives way."""
        if self._readline is None or not POSSIBLE:
            return lambda: None
        self._giving = GivingWay(waiting, heed, self._readline.get_line_buffer)
        return self._giving.ring

    def say(self, lines: Iterable[str]) -> None:
        """Print texts of anybody's; each may hold several lines. While a line is typed they are held back."""
        if self._at_prompt:
            self._held += lines
            return
        held, self._held = self._held, []
        for line in (*held, *lines):
            print(literal(line), flush=True)

    @property
    def holds(self) -> bool:
        """Whether something was said while a line is typed."""
        return bool(self._held)

    @property
    def unfinished(self) -> bool:
        """Whether the prompt goes on in another line."""
        return bool(self._lines)

    def begun(self) -> bool:
        """Whether something is typed and not sent yet. To be asked while it is typed."""
        return bool(self._lines or (self._readline is not None and self._readline.get_line_buffer()))

    def release(self) -> None:
        """Leave the line that gave way, and say what was held back."""
        print(flush=True)
        self.say(())

    def recall(self, prompts: Iterable[str]) -> None:
        """These can be fetched with the arrow keys, the last one first."""
        for text in prompts:
            if self._readline is not None and text.strip():
                self._readline.add_history(" ".join(text.splitlines()))

    def prompt(self, draft: str = "") -> str:
        """What the user has to say: one line, or several where each but the last ends in a backslash.

        Raises `EOFError` and `KeyboardInterrupt`, and `GaveWay`: then the next call goes on with the lines so far."""
        self._at_prompt = True
        try:
            while (line := self.ask(MORE if self._lines else PROMPT, draft)).endswith("\\"):
                self._lines.append(line[:-1])
                draft = ""
        except KeyboardInterrupt:
            self._lines.clear()
            raise
        finally:
            self._at_prompt = False
        text = "\n".join([*self._lines, line])
        self._lines.clear()
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
        if draft and (self._readline is None or "\n" in draft):
            print(literal(draft), flush=True)
            draft = ""
        if self._readline is None:
            return input(prompt)
        self._readline.set_startup_hook(partial(self._begin, draft))
        try:
            return input(prompt)
        finally:
            if self._giving is not None:
                self._giving.end()
            self._readline.set_startup_hook()

    def _begin(self, draft: str) -> None:
        """Readline has an empty line and waits for the first key."""
        if draft and self._readline is not None:
            self._readline.insert_text(literal(draft))
        if self._giving is not None and self._at_prompt:
            self._giving.begin()  # the very last thing: from here on the line can be broken off


def _readline() -> Any:
    """The module, set up to write nothing but what is typed; None where there is none."""
    with contextlib.suppress(ImportError):
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")
        readline.parse_and_bind("set enable-meta-key off")
        readline.set_auto_history(False)
        return readline
    return None
