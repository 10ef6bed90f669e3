"""The graph of a flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FlowKind = Literal["begin", "end", "task", "decision"]


@dataclass(frozen=True, slots=True)
class FlowNodeView:
    """A node of a flow and the ways that lead on from it."""

    id: str
    kind: FlowKind
    label: str
    """What the model is told there, in full."""
    ways: tuple[tuple[str, str], ...] = ()
    """(label, id of the next node); the label is empty where there is only one way."""


@dataclass(frozen=True, slots=True)
class FlowView:
    """The graph that an activity walks: a flow of the user's, or the Ralph loop."""

    name: str
    nodes: tuple[FlowNodeView, ...]
    """In the order of the diagram."""
    limit: int | None = None
    """Iterations that it may take; None: no limit."""
    cost_limit: float | None = None
    """US dollars."""
