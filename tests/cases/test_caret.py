"""Caret, clipboard and mouse in a real terminal: where the cursor is put, and what reaches the clipboard."""

from __future__ import annotations

import base64
import os
import re
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.program import ROOT, script
from tests.ui.test_terminal import LONGEST, Terminal

ANSWER = "Prose to drag over, 你好 世界.\n\nA second paragraph."
HOME = 4
"""The column (from 1) of the first character of a prompt."""
QUIET = 0.1
"""Seconds without output after which it is looked at where the cursor is. On a busy machine that is too early, and it
is looked at again."""


class Watched(Terminal):
    def quiet(self) -> None:
        """Read until nothing comes for a moment."""
        while select.select([self.fd], [], [], QUIET)[0] and self._read():
            pass

    def caret(self, keys: str, column: int) -> None:
        """After these keys the terminal's cursor is left in this column, counted from 0 at the first character."""
        self.written = b""
        self.type(keys.encode())
        end, found = time.monotonic() + LONGEST, -1
        while found != column and time.monotonic() < end:
            self._read()
            self.quiet()
            found = int((re.findall(rb"\x1b\[\d+;(\d+)H", self.written) or [b"0"])[-1]) - HOME
        assert found == column, keys

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """With the left button, from one cell (column, row from 1) to another."""
        (x1, y1), (x2, y2) = start, end
        self.type(f"\x1b[<0;{x1};{y1}M\x1b[<32;{x1 + 1};{y1}M\x1b[<32;{x2};{y2}M\x1b[<0;{x2};{y2}m".encode())

    def copied(self) -> list[str]:
        """What Ctrl+C hands to the terminal's clipboard; it says so at once."""
        self.type(b"\x03")
        self.read_until(b" characters.")
        return [base64.b64decode(text).decode() for text in re.findall(rb"\x1b\]52;c;([^\x07\x1b]*)", self.written)]


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """The program after a turn with an answer and a card."""
    work = tmp_path / "work"
    work.mkdir()
    card = {"tools": [{"name": "WriteFile", "args": {"path": "a.py", "content": "x = 1\ny = 2\n"}}]}
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = Watched("-m", "kimi_tui", "-w", str(work), "-m", script(tmp_path, card, {"text": ANSWER}), "--yolo")
    made.read_until("❯".encode())
    made.type(b"go\r")
    made.read_until(b"second paragraph")
    made.read_until("\x1b]2;go – kimi-tui\x07".encode())  # the turn is over
    made.quiet()
    yield made
    os.kill(made.pid, signal.SIGKILL)
    os.waitpid(made.pid, 0)
    os.close(made.fd)


def test_the_terminal_cursor_stands_where_the_next_character_comes_and_a_key_deletes_a_whole_one(
    terminal: Watched,
) -> None:
    terminal.caret("x", 1)
    terminal.caret("\x7f", 0)
    for cluster, cells in (("你", 2), ("😀", 2), ("e\u0301", 1), ("👨‍👩‍👧", 2), ("👍🏽", 2), ("❤️", 2)):
        terminal.caret(cluster, cells)
        terminal.caret("\x1b[D", 0)
        terminal.caret("\x1b[C", cells)
        terminal.caret("\x7f", 0)
    terminal.caret("你好 one 世界", 13)
    terminal.caret("\x17", 9)
    terminal.caret("\x1b[H", 0)
    terminal.caret("\x1b[F", 9)


def test_what_the_mouse_is_dragged_over_reaches_the_clipboard_without_any_frame(terminal: Watched) -> None:
    terminal.drag((1, 3), (70, 12))
    (text,) = terminal.copied()
    rows = text.split("\n")
    assert rows[0] == "go" and ANSWER in text
    assert any(row.startswith("Write a.py") for row in rows)
    assert "1 + x = 1" in rows
    assert not set(text) & set("│┃▌─━╭╮╰╯✓❯")


def test_a_drag_over_a_place_without_text_says_so_and_copies_nothing(terminal: Watched) -> None:
    terminal.drag((20, 15), (60, 16))
    terminal.read_until(b"no text to copy")
    assert b"\x1b]52;c;" not in terminal.written
