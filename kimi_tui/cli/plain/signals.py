"""Signals that end plain mode, heeded wherever it stands."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class Stopped(BaseException):
    """A signal ends the program."""

    def __init__(self, number: int) -> None:
        self.number = number


def leave_on_signals() -> None:
    """From now on SIGTERM and SIGHUP raise `Stopped` in the main thread."""
    heeded = threading.Event()

    def leave(number: int, frame: FrameType | None) -> None:
        heeded.set()
        raise Stopped(number)

    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
    for number in numbers:
        signal.signal(number, leave)
    if hasattr(signal, "pthread_kill"):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(target=_insist, args=(reading, numbers, heeded), name="signals", daemon=True).start()


def _insist(arrived: int, numbers: list[int], heeded: threading.Event) -> None:
    """A signal that comes just before the program waits for a line is noticed only when that wait is broken off: it is
    sent again until it is heeded."""
    main = threading.main_thread().ident
    assert main is not None
    while data := os.read(arrived, 1):
        while data[0] in numbers and not heeded.wait(0.2):
            signal.pthread_kill(main, data[0])
