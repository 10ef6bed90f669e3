"""The steps of a file that a jump left behind, among the rows of the timeline.

The sidebar gets them when a branch is unfolded: reading every rotation beforehand would cost what the user may never
look at.
"""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.protocol.views import SwitchView, TimelineRow


def offset_of(row: TimelineRow) -> int | None:
    """Where the checkpoint lies, as commands want it; None for a row that is no checkpoint."""
    return None if row.checkpoint is None else row.offset


def own_from(switch: SwitchView | None) -> int:
    """The first checkpoint that the file does not share with the timeline that took its place."""
    if switch is not None and switch.why in ("revert", "dmail") and switch.to_checkpoint is not None:
        return switch.to_checkpoint
    return 0


def branch_rows(rows: Sequence[TimelineRow], since: int = 0) -> tuple[TimelineRow, ...]:
    """Those from checkpoint `since` on."""
    return tuple(row for row in rows if (row.checkpoint or 0) >= since)
