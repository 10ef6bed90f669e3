"""How a flow goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.flows import FlowKind, FlowView


@dataclass(frozen=True, slots=True)
class FlowStarted(Event):
    """A flow begins: turns follow until `FlowEnded`. Interrupting any of them ends all of it."""

    flow: FlowView


@dataclass(frozen=True, slots=True)
class FlowMoved(Event):
    """The flow stands at a node that is about to get a turn."""

    flow: str
    node: str
    """Its id in the graph."""
    label: str
    """The beginning of what the model is told there."""
    kind: FlowKind
    visits: int
    """How often the walk has come to this node, this time included."""
    iterations: int
    """Nodes that were given a turn so far, this one included."""
    asks: int
    """How often the question of a decision had to be repeated at this visit."""
    choice: str
    """The label of the way that led here; empty where there was no choice."""
    choices: tuple[str, ...]
    """The ways on from here."""
    tokens: int
    """Input and output of all calls so far."""
    cost: float | None
    """US dollars so far, where known."""


FlowEnd = Literal["done", "stopped", "max_moves", "no_choice", "empty_rounds", "dead_end", "max_cost"]
"""`stopped`: one of its turns was interrupted, rejected or failed."""


@dataclass(frozen=True, slots=True)
class FlowEnded(Event):
    """Always the last event of a flow."""

    flow: str
    reason: FlowEnd
    message: str
    """One sentence for the user."""
    iterations: int = 0
    tokens: int = 0
    cost: float | None = None
