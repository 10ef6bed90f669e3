"""The token gauge: one reckoning for the bar, the trigger and the room that is kept for the reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from kimi_tui.context import Context, should_auto_compact
from kimi_tui.protocol.views import Tokens

SMALL_WINDOW_SHARE = 0.25
"""The reserve never takes more of a window than this, or 50 000 tokens would compact a 16k model for ever."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When to compact: at `ratio` of the window, or when less than `reserve` tokens of it are left."""

    ratio: float = 0.85
    reserve: int = 50_000
    warn_ratio: float = 0.85
    """Share of the trigger at which a coming compaction is announced; 1: never."""

    def reserve_in(self, window: int) -> int:
        """The reserve in a window of that size, in tokens."""
        return min(self.reserve, int(window * SMALL_WINDOW_SHARE))

    def trigger_in(self, window: int) -> int:
        """The count at which compaction starts; 0 for an unknown window."""
        return max(0, min(int(window * self.ratio), window - self.reserve_in(window)))

    def warns_in(self, window: int) -> int:
        """The count from which on a compaction is near; 0 when that is never said."""
        return int(self.trigger_in(window) * self.warn_ratio) if self.warn_ratio < 1 else 0

    def exceeded(self, tokens: int, window: int) -> bool:
        """Whether a context of that many tokens has to be compacted before it is sent."""
        if window <= 0:
            return False
        return should_auto_compact(
            tokens, window, trigger_ratio=self.ratio, reserved_context_size=self.reserve_in(window)
        )


class Scale:
    """Any count of the context as the gauge shows it: where no model has counted, what is sent beside the messages (the
    system prompt, the tools) comes on top."""

    def __init__(self, overhead: Callable[[], int]) -> None:
        """`overhead` tells how much that is; asked once, and only when it is needed."""
        self._overhead = overhead

    def __call__(self, tokens: int, counted: bool) -> int:
        return tokens if counted else tokens + self._beside

    @cached_property
    def _beside(self) -> int:
        return self._overhead()


FEW = 8
"""Checkpoints and messages from a session's beginning within which its first report is looked for."""


def counted_beside(context: Context) -> int | None:
    """What is sent beside the messages, by the first report of a model: its count without the messages that it covers.
    None where no report is known, or only one of much more."""
    first = next((mark for mark in islice(context.checkpoints, FEW) if mark.counted), None)
    exact, covered = (
        (first.exact, first.pending_from) if first is not None else (context.token_count, context.pending_since)
    )
    if not exact or covered > FEW:
        return None
    return max(0, exact - context.estimate(context.history[:covered]))


def tokens_view(
    exact: int, total: int, window: int, limits: Limits, *, exact_at: float | None, cost: float | None
) -> Tokens:
    """The gauge's figures; `total` is exact and pending together."""
    return Tokens(
        exact=exact,
        pending=max(0, total - exact),
        window=window,
        reserve=limits.reserve_in(window),
        trigger=limits.trigger_in(window),
        exact_at=exact_at,
        cost=cost,
    )
