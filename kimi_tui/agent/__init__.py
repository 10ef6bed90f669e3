"""The agent: turns, steps, compaction, D-Mail and time travel. Runs without a terminal."""

from kimi_tui.agent.compaction.plan import CompactionResult, Prepared, SimpleCompaction
from kimi_tui.agent.dmail import BackToTheFuture, DenwaRenji, DenwaRenjiError, DMail

__all__ = [
    "BackToTheFuture",
    "CompactionResult",
    "DMail",
    "DenwaRenji",
    "DenwaRenjiError",
    "Prepared",
    "SimpleCompaction",
]
