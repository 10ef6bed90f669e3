"""What fills the model's window."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tokens:
    """The gauge. `exact + pending` is what the next call is expected to send."""

    exact: int = 0
    pending: int = 0
    window: int = 0
    reserve: int = 0
    """Room kept for the reply, already capped for small windows."""
    trigger: int = 0
    """Count at which the context is compacted."""
    exact_at: float | None = None
    """When the exact figure was reported; None when it is an estimate (right after a compaction)."""
    cost: float | None = None
    """US dollars spent in this session, where the provider's price is known."""

    @property
    def total(self) -> int:
        return self.exact + self.pending


@dataclass(frozen=True, slots=True)
class TokenShare:
    """One category of the context breakdown. The shares add up to the gauge."""

    category: str
    tokens: int
    exact: bool
    items: tuple[tuple[str, int], ...] = ()
    """The largest single items: what it is, its tokens."""
    entries: tuple[int | None, ...] = ()
    """For each item the chat entry of a result that can be dropped (`DropResult`), or None."""
