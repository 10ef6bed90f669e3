"""What the interpreter is told once, so that the screen keeps its pace while long sessions are worked on beside it."""

from __future__ import annotations

import gc
import sys

TURN = 0.001
"""Seconds that a thread may go on while another waits. A loop that wakes beside a busy worker waits that long, and once
more after every call that lets others have their turn: with the 5 ms of Python that adds up to what a user notices."""


def keep_pace() -> None:
    """Look for cycles rarely (a history is many small objects that stay), and let no worker hold up a loop."""
    gc.set_threshold(20_000, 50, 1_000)
    sys.setswitchinterval(TURN)
