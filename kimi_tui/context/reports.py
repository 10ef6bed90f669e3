"""What a log's own reports teach, for a context of which nobody says what model it talks to.

A pure function of the file: after a restart the pending part is estimated as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

from kimi_tui.context.calibration import Calibration, Cost
from kimi_tui.context.tokens import text_cost, total

LOOKED_AT = 6
"""So many of the newest reports teach."""


class Report(msgspec.Struct, frozen=True):
    """An exact count, as the log records it."""

    covers: int
    """How many messages from the start it is of."""
    tokens: int


_NOTHING = Report(0, 0)


def taught_by(
    reports: Sequence[Report], cost: Callable[[int, int], Cost | None], prompt: str | None
) -> Calibration | None:
    """`cost(start, stop)` is that of these messages, None for such as teach nothing; of more than `LOOKED_AT` reports
    the first is only what the second adds to. None when no report teaches."""
    calibration, taught = Calibration(), False
    earlier = [_NOTHING, *reports] if len(reports) <= LOOKED_AT else reports
    for before, report in pairwise(earlier):
        found = cost(before.covers, report.covers)
        if found is not None:
            if before == _NOTHING and prompt:
                found = total([found, text_cost(prompt)])
            taught |= calibration.learn(found, report.tokens - before.tokens)
    return calibration if taught else None
