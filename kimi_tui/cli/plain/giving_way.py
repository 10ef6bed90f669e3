"""A line that is being typed gives way to what the agent says: a signal breaks off the wait for it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType

POSSIBLE = hasattr(signal, "pthread_kill") and hasattr(signal, "SIGUSR1")
"""Whether this system can break off the wait of the main thread."""
_AGAIN = 0.02
"""Seconds until a signal that came just before the wait began is sent once more."""


class GaveWay(Exception):
    """There is something to be said first. `text` is what had been typed by then."""

    def __init__(self, text: str) -> None:
        self.text = text


class GivingWay:
    """Between `begin` and `end` the main thread waits for a line.

    `waiting` says whether there is news; then `heed` is called in the main thread, and when it says so the wait ends in
    `GaveWay` with what `typed` returns. Plain attributes, no locks: a signal may find the main thread anywhere."""

    def __init__(self, waiting: Callable[[], bool], heed: Callable[[], bool], typed: Callable[[], str]) -> None:
        self._waiting, self._heed, self._typed = waiting, heed, typed
        self._calls: SimpleQueue[None] = SimpleQueue()
        self._open = self._heeding = False
        signal.signal(signal.SIGUSR1, self._hear)
        threading.Thread(target=self._insist, name="giving way", daemon=True).start()

    def ring(self) -> None:
        """There is news. From any thread."""
        self._calls.put(None)

    def begin(self) -> None:
        self._calls.put(None)
        self._open = True

    def end(self) -> None:
        self._open = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self._open or self._heeding:
            return
        self._heeding = True
        try:
            gives = self._heed()
        finally:
            self._heeding = False
        if gives:
            self._open = False
            raise GaveWay(self._typed())

    def _insist(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        while True:
            self._calls.get()
            while self._open and self._waiting():
                signal.pthread_kill(main, signal.SIGUSR1)
                time.sleep(_AGAIN)
