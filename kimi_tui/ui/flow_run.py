"""How a flow goes: a pure fold over its events, for the activity row and the flow's own screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import FlowView
from kimi_tui.ui.cells import count

Way = tuple[str, str]
"""Id of the node that it leads on from, and its label."""


@dataclass(frozen=True, slots=True)
class FlowRun:
    """One walk. It is kept when it has ended, so that it can still be looked at."""

    flow: FlowView
    at: ev.FlowMoved | None = None
    visits: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[Way, int] = field(default_factory=dict)
    """How often each way was gone."""
    ended: ev.FlowEnded | None = None

    @property
    def iterations(self) -> int:
        return self.ended.iterations if self.ended else self.at.iterations if self.at else 0

    @property
    def tokens(self) -> int:
        return self.ended.tokens if self.ended else self.at.tokens if self.at else 0

    @property
    def cost(self) -> float | None:
        return self.ended.cost if self.ended else self.at.cost if self.at else None


def follow(run: FlowRun | None, event: ev.Event) -> FlowRun | None:
    """The walk after the event; the same when the event is none of a flow's."""
    match event:
        case ev.FlowStarted(flow):
            return FlowRun(flow)
        case ev.FlowMoved() if run is not None:
            return _moved(run, event)
        case ev.FlowEnded() if run is not None:
            return _ended(run, event)
    return run


def _moved(run: FlowRun, event: ev.FlowMoved) -> FlowRun:
    taken = run.taken if event.asks else _gone(run, event.node, event.choice)
    return replace(run, at=event, visits={_begin(run): 1, **run.visits, event.node: event.visits}, taken=taken)


def _ended(run: FlowRun, event: ev.FlowEnded) -> FlowRun:
    """Of the last way only the goal is known: END."""
    end = next((node.id for node in run.flow.nodes if node.kind == "end"), "")
    if event.reason != "done":
        return replace(run, ended=event)
    return replace(run, ended=event, visits={**run.visits, end: 1}, taken=_gone(run, end, ""))


def _gone(run: FlowRun, to: str, choice: str) -> Mapping[Way, int]:
    before = run.at.node if run.at else _begin(run)
    node = next((node for node in run.flow.nodes if node.id == before), None)
    for label, target in node.ways if node else ():
        if target == to and choice in ("", label):
            return {**run.taken, (before, label): run.taken.get((before, label), 0) + 1}
    return run.taken


def _begin(run: FlowRun) -> str:
    return next((node.id for node in run.flow.nodes if node.kind == "begin"), "")


def figures(run: FlowRun) -> list[str]:
    """`round 3 of 20`, `12.4k tokens`, `$0.02 of $1.00`."""
    limit = f" of {run.flow.limit}" if run.flow.limit is not None else ""
    said = [f"round {run.iterations}{limit}", f"{count(run.tokens)} tokens"]
    if run.cost is not None:
        cap = f" of ${run.flow.cost_limit:.2f}" if run.flow.cost_limit is not None else ""
        said.append(f"${run.cost:.2f}{cap}")
    return said
