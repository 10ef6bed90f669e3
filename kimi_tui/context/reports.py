"""What a log's own reports teach, for a context of which nobody says what model it talks to.

A pure function of the file: after a restart the pending part is estimated as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kimi_tui.context.calibration import Calibration, Cost
from kimi_tui.context.tokens import text_cost, total

LOOKED_AT = 4
"""So many of the newest reports are tried, until one teaches something."""


class Report(NamedTuple):
    """An exact count, as the log records it."""

    covers: int
    """How many messages from the start it is of."""
    tokens: int


def taught_by(
    reports: Sequence[Report], cost: Callable[[int, int], Cost | None], prompt: str | None
) -> Calibration | None:
    """`cost(start, stop)` is that of these messages, None for such as teach nothing. None when no report teaches."""
    nothing = Report(0, 0)
    for number in range(len(reports) - 1, max(-1, len(reports) - 1 - LOOKED_AT), -1):
        before, report = (reports[number - 1] if number else nothing), reports[number]
        found = cost(before.covers, report.covers)
        if found is None:
            continue
        if before == nothing and prompt:
            found = total([found, text_cost(prompt)])
        calibration = Calibration()
        if calibration.learn(found, report.tokens - before.tokens):
            return calibration
    return None
