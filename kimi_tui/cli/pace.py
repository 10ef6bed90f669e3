"""What the interpreter is told once, so that the screen keeps its pace while long sessions are worked on beside it."""

from __future__ import annotations

import gc
import sys

TURN = 0.001
"""Seconds that a thread may go on while another waits. A loop that wakes beside a busy worker waits that long, and once
more after every call that lets others have their turn: with the 5 ms of Python that adds up to what a user notices."""


CYCLES = (3_000, 5, 20_000)
"""When Python looks for cycles: often among the few newest objects, which takes a millisecond where twenty thousand
take ten in the middle of a frame, and hardly ever among all, since a history is many small ones that stay."""


def keep_pace() -> None:
    """Look for cycles in small pieces, and let no worker hold up a loop."""
    gc.set_threshold(*CYCLES)
    sys.setswitchinterval(TURN)
