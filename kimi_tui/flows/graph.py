"""What a flow is: nodes, labelled edges, one BEGIN and one END; and the check that it can be walked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kimi_tui.protocol.messages import ContentPart

FlowNodeKind = Literal["begin", "end", "task", "decision"]


class FlowError(ValueError):
    """A flow that cannot be used."""


class FlowParseError(FlowError):
    """A diagram that cannot be read. The message names the line and the form; `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"Line {line}: {message}")
        self.line = line


class FlowValidationError(FlowError):
    """A diagram that reads well but cannot be walked. `faults` holds one sentence each; the message joins them."""

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class FlowNode:
    id: str
    label: str | list[ContentPart]
    """What the model is told at this node: a text, or the parts of a message (a prompt with images)."""
    kind: FlowNodeKind


@dataclass(frozen=True, slots=True)
class FlowEdge:
    src: str
    dst: str
    label: str | None


@dataclass(slots=True)
class Flow:
    """`outgoing` has an entry for every node, in the order of the diagram."""

    nodes: dict[str, FlowNode]
    outgoing: dict[str, list[FlowEdge]]
    begin_id: str
    end_id: str


def node_text(node: FlowNode) -> str:
    """The label as text; images and the like left out."""
    if isinstance(node.label, str):
        return node.label
    texts = (getattr(part, "text", None) for part in node.label)
    return " ".join(text for text in texts if isinstance(text, str)).strip()


def validate_flow(nodes: Mapping[str, FlowNode], outgoing: Mapping[str, Sequence[FlowEdge]]) -> tuple[str, str]:
    """The ids of BEGIN and END. Raises FlowValidationError with everything that is wrong, not only the first.

    Nodes that cannot be reached may look as they like: a note in the margin is no fault.
    """
    begins = [node.id for node in nodes.values() if node.kind == "begin"]
    ends = [node.id for node in nodes.values() if node.kind == "end"]
    faults = [*_count_faults("BEGIN", begins), *_count_faults("END", ends)]
    reached = {begin: _reachable(begin, outgoing) for begin in begins}
    for node_id in dict.fromkeys(found for walk in reached.values() for found in walk):
        faults += _edge_faults(node_id, outgoing.get(node_id, ()), nodes)
    faults += [
        f"END ({end}) cannot be reached from BEGIN ({begin})"
        for begin, walk in reached.items()
        for end in ends
        if end not in walk
    ]
    if faults:
        raise FlowValidationError(*faults)
    return begins[0], ends[0]


def _count_faults(name: str, found: list[str]) -> Iterator[str]:
    if not found:
        yield f"there is no {name} node (a node whose label is {name})"
    elif len(found) > 1:
        yield f"there must be one {name} node, found {len(found)}: {', '.join(found)}"


def _reachable(start: str, outgoing: Mapping[str, Sequence[FlowEdge]]) -> dict[str, None]:
    seen = {start: None}
    waiting = [start]
    while waiting:
        for edge in outgoing.get(waiting.pop(), ()):
            if edge.dst not in seen:
                seen[edge.dst] = None
                waiting.append(edge.dst)
    return seen


def _edge_faults(node_id: str, edges: Sequence[FlowEdge], nodes: Mapping[str, FlowNode]) -> Iterator[str]:
    for edge in edges:
        if edge.dst not in nodes:
            yield f'an edge of "{node_id}" leads to "{edge.dst}", which does not exist'
    if len(edges) < 2:
        return
    labels = [(edge.label or "").strip() for edge in edges]
    if not all(labels):
        yield f'"{node_id}" has {len(edges)} ways out, so each needs a label; one has none'
    for label in dict.fromkeys(label for label in labels if label and labels.count(label) > 1):
        yield f'"{node_id}" has more than one way out with the label "{label}"'
