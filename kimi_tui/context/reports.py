"""What a log's own reports teach, for a context of which nobody says what model it talks to.

A pure function of the file: after a restart the pending part is estimated as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from kimi_tui.context.tokens import UNIT, Calibration, Cost, text_cost, total

LOOKED_AT = 4
"""So many of the newest reports are tried, until one teaches something."""

_PLAIN, _WIDE = (0.75, 1.35), (0.5, 1.7)
"""Between which factors the tokenizers of all models lie. What a report counts beyond them is something else: tools."""


class Report(msgspec.Struct, frozen=True):
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
        if _credible(found, report.tokens - before.tokens):
            calibration = Calibration()
            untaught = calibration.state
            calibration.learn(found, report.tokens - before.tokens)
            if calibration.state != untaught:
                return calibration
    return None


def _credible(cost: Cost, exact: int) -> bool:
    least, most = ((cost.plain * plain + cost.wide * wide) / UNIT for plain, wide in zip(_PLAIN, _WIDE, strict=True))
    return least <= exact <= most
