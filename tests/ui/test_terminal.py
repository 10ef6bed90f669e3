"""The screen in a real pseudo-terminal: what is written to it, first and last."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from kimi_tui.ui.start import sketch

ROOT = Path(__file__).parent.parent.parent
LONGEST = 60.0
"""Seconds; a loaded machine is slow, and a hang must end."""
MODES_OFF = (b"\x1b[?1049l", b"\x1b[?2004l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?25h")


def become(*arguments: str) -> NoReturn:
    """In the child: Python with these arguments, in a terminal of this size. The environment is handed over as it is
    known here: readline, once it is loaded, has a size of its own in the one that is inherited."""
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.chdir(ROOT)
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    given = {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}
    os.execve(sys.executable, [sys.executable, *arguments], known | given)


class Terminal:
    """A child in a pseudo-terminal of 80×24."""

    def __init__(self, *arguments: str) -> None:
        self.written = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            become(*arguments)

    def read_until(self, wanted: bytes) -> None:
        end = time.monotonic() + LONGEST
        while wanted not in self.written and time.monotonic() < end:
            if not self._read():
                break
        assert wanted in self.written, self.written[-2_000:]

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def read_to_end(self) -> int:
        """The exit status, as the shell tells it."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and self._read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        if select.select([self.fd], [], [], 0.5)[0]:
            try:
                data = os.read(self.fd, 65_536)
            except OSError:
                return False
            self.written += data
            return bool(data)
        return True


@pytest.fixture
def play() -> Iterator[Terminal]:
    terminal = Terminal("-m", "tests.ui.play")
    yield terminal
    try:
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    os.close(terminal.fd)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGABRT])
def test_the_terminal_is_put_back_after_a_signal(play: Terminal, number: signal.Signals) -> None:
    play.read_until(b"Nothing else calls it")
    os.kill(play.pid, number)
    assert play.read_to_end() == 0
    assert [mode for mode in MODES_OFF if mode not in play.written] == []
    assert play.written.rstrip().endswith(b"kimi-tui -r 0123")


def test_a_closed_window_ends_the_program(play: Terminal) -> None:
    play.read_until(b"Nothing else calls it")
    os.close(play.fd)
    play.fd = os.open(os.devnull, os.O_RDONLY)
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and os.waitpid(play.pid, os.WNOHANG) == (0, 0):
        time.sleep(0.05)
    with pytest.raises(ChildProcessError):
        os.waitpid(play.pid, os.WNOHANG)


def test_what_is_typed_before_the_first_frame_reaches_the_prompt(play: Terminal) -> None:
    play.read_until("❯".encode())
    play.type(b"typed early\r")
    play.read_until(b"Nothing else calls it")
    play.read_until(b"typed early")


def test_the_sketch_fits_the_window_and_says_nothing_in_a_tiny_one() -> None:
    assert "\x1b[26;1H╭" in sketch(100, 30) and "─" * 98 in sketch(100, 30)
    assert "╭" not in sketch(20, 5)


def test_the_sketch_has_the_colours_that_the_terminal_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert "38;2" in sketch(100, 30)
    monkeypatch.setenv("COLORTERM", "")
    assert "38;2" not in sketch(100, 30)


def test_the_sketch_has_no_colours_when_none_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "38;2" not in sketch(100, 30)


def test_a_terminal_that_vanishes_without_a_word_ends_the_app() -> None:
    pid, fd = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        become("-m", "tests.ui.play")
    written = b""
    while b"Nothing else calls it" not in written and select.select([fd], [], [], LONGEST)[0]:
        written += os.read(fd, 65_536)
    os.close(fd)
    end = time.monotonic() + LONGEST
    while (found := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.05)
    if found[0] == 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert found[0] == pid


def test_bytes_that_are_no_text_and_keys_that_are_none_do_not_end_the_app(play: Terminal) -> None:
    play.read_until(b"Nothing else calls it")
    play.type(b"\xd0\xff \x1b[1114112;5u\x1b[97:65u\x1b[:7~\x1b[<64;99999999999;3M still here")
    play.read_until(b"still here")


def test_the_terminal_is_put_back_when_its_keys_can_no_longer_be_read() -> None:
    code = (
        "import os, tests.ui.play as play\n"
        "read = os.read\n"
        "def broken(file, size):\n"
        "    data = read(file, size)\n"
        "    if b'!' in data: raise OverflowError('secret words')\n"
        "    return data\n"
        "os.read = broken; play.main()\n"
    )
    terminal = Terminal("-c", code)
    terminal.read_until(b"Nothing else calls it")
    terminal.type(b"!")
    terminal.read_to_end()
    os.close(terminal.fd)
    assert [mode for mode in MODES_OFF if mode not in terminal.written] == []
    assert b"Traceback" not in terminal.written
