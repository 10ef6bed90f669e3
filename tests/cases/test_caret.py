"""Caret, clipboard and mouse in a real terminal: where the cursor is put, and what reaches the clipboard."""

from __future__ import annotations

import base64
import os
import re
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.program import ROOT, script
from tests.ui.test_terminal import Terminal

ANSWER = "Prose to drag over, 你好 世界.\n\nA second paragraph."
QUIET = 0.6
"""Seconds without output after which the screen is taken to be painted."""


class Watched(Terminal):
    def settle(self) -> bytes:
        """What is written until nothing more comes."""
        self.written = b""
        while select.select([self.fd], [], [], QUIET)[0]:
            self.written += os.read(self.fd, 65_536)
        return self.written

    def caret(self, keys: bytes | str) -> int:
        """The column (from 1) in which the terminal's cursor is left after these keys."""
        self.type(keys.encode() if isinstance(keys, str) else keys)
        return int(re.findall(rb"\x1b\[\d+;(\d+)H", self.settle())[-1])

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """With the left button, from one cell (column, row from 1) to another."""
        (x1, y1), (x2, y2) = start, end
        self.type(f"\x1b[<0;{x1};{y1}M\x1b[<32;{x1 + 1};{y1}M\x1b[<32;{x2};{y2}M\x1b[<0;{x2};{y2}m".encode())
        self.settle()

    def copied(self) -> list[str]:
        """What Ctrl+C hands to the terminal's clipboard."""
        self.type(b"\x03")
        return [base64.b64decode(text).decode() for text in re.findall(rb"\x1b\]52;c;([^\x07\x1b]*)", self.settle())]


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
    made.settle()
    yield made
    os.kill(made.pid, signal.SIGKILL)
    os.waitpid(made.pid, 0)
    os.close(made.fd)


def test_the_terminal_cursor_stands_where_the_next_character_comes_and_a_key_deletes_a_whole_one(
    terminal: Watched,
) -> None:
    home = terminal.caret("x") - 1
    assert terminal.caret("\x7f") == home
    for cluster, cells in (("你", 2), ("😀", 2), ("e\u0301", 1), ("👨‍👩‍👧", 2), ("👍🏽", 2), ("❤️", 2)):
        assert terminal.caret(cluster) == home + cells, cluster
        assert terminal.caret("\x1b[D") == home, cluster
        assert terminal.caret("\x1b[C") == home + cells, cluster
        assert terminal.caret("\x7f") == home, cluster
    assert terminal.caret("你好 one 世界") == home + 13
    assert terminal.caret("\x17") == home + 9
    assert terminal.caret("\x1b[H") == home
    assert terminal.caret("\x1b[F") == home + 9


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
    assert b"no text to copy" in terminal.written
