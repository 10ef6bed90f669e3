"""A program in a pseudo-terminal, watched from its far end."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Terminal:
    """The far end of a pseudo-terminal."""

    def __init__(self, child: subprocess.Popen[bytes], handle: int) -> None:
        self.child, self.handle, self.seen = child, handle, b""

    def wait_for(self, text: bytes, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen and self.child.poll() is None and time.monotonic() < end:
            self._read(0.2)
        assert text in self.seen, self.seen[-2000:]

    def finish(self) -> int:
        end = time.monotonic() + 60
        while self.child.poll() is None and time.monotonic() < end:
            self._read(0.1)
        while self._read(0.1):
            pass
        return self.child.wait(60)

    def _read(self, seconds: float) -> bool:
        if not select.select([self.handle], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.handle, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += data
        return bool(data)

    def type(self, text: str) -> None:
        os.write(self.handle, text.encode())

    def lines(self) -> list[str]:
        """What has been written so far."""
        return self.seen.decode().replace("\r\n", "\n").split("\n")


@contextmanager
def in_terminal(*arguments: str, cwd: Path, **env: str) -> Iterator[Terminal]:
    """Python with these arguments."""
    handle, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    child = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=far,
        stdout=far,
        stderr=far,
        cwd=cwd,
        env={**known, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **env},
        start_new_session=True,
    )
    os.close(far)
    try:
        yield Terminal(child, handle)
    finally:
        child.kill()
        child.wait()
        os.close(handle)
