"""A flow being read: nodes may be mentioned before they are described, and what a node is shows only at the end."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_tui.flows.graph import Flow, FlowEdge, FlowNode, FlowNodeKind, FlowParseError, validate_flow


@dataclass(slots=True)
class DraftNode:
    id: str
    label: str
    line: int
    described: bool
    """The label was written out; else it is the id."""
    detail: bool
    """Only ever mentioned inside another node's block."""

    @property
    def word(self) -> str:
        return self.label.strip().lower()


@dataclass(slots=True)
class DraftEdge:
    src: str
    dst: str
    label: str | None


class Draft:
    """Collects what a diagram says and turns it into a Flow."""

    def __init__(self) -> None:
        self.nodes: dict[str, DraftNode] = {}
        self.edges: list[DraftEdge] = []

    def node(
        self, node_id: str, label: str | None, line: int, *, detail: bool = False, name: str | None = None
    ) -> None:
        """A mention (label None) or a description. `name` is a better label for a mere mention than the id.

        Raises FlowParseError for an empty label and for a second, different description.
        """
        if label is not None and not label.strip():
            raise FlowParseError(f'the label of "{node_id}" is empty', line)
        node = DraftNode(node_id, (name or node_id) if label is None else label, line, label is not None, detail)
        known = self.nodes.setdefault(node_id, node)
        known.detail = known.detail and detail
        if name and not known.described:
            known.label = name
        if label is None or known.label == label:
            known.described = known.described or label is not None
        elif known.described:
            raise FlowParseError(
                f'"{node_id}" is described twice: "{known.label}" in line {known.line}, now "{label}"', line
            )
        else:
            known.label, known.line, known.described = label, line, True

    def edge(self, src: str, dst: str, label: str | None) -> DraftEdge:
        edge = DraftEdge(src, dst, (label or "").strip() or None)
        self.edges.append(edge)
        return edge

    def finish(self) -> Flow:
        """The flow. Raises FlowValidationError when it cannot be walked."""
        self._drop_details()
        outgoing: dict[str, list[FlowEdge]] = {node_id: [] for node_id in self.nodes}
        for edge in self.edges:
            outgoing[edge.src].append(FlowEdge(edge.src, edge.dst, edge.label))
        nodes = {
            node.id: FlowNode(node.id, node.label, _kind(node, len(outgoing[node.id]))) for node in self.nodes.values()
        }
        begin_id, end_id = validate_flow(nodes, outgoing)
        return Flow(nodes, outgoing, begin_id, end_id)

    def _drop_details(self) -> None:
        """A drawing inside a node's block that nothing outside leads to only illustrates that node."""
        outer = {node.id for node in self.nodes.values() if not node.detail}
        if not any(self.nodes[node_id].word == "begin" for node_id in outer):
            return
        kept = self._connected(outer)
        self.nodes = {node_id: node for node_id, node in self.nodes.items() if node_id in kept}
        self.edges = [edge for edge in self.edges if edge.src in kept]

    def _connected(self, start: set[str]) -> set[str]:
        neighbours: dict[str, list[str]] = {node_id: [] for node_id in self.nodes}
        for edge in self.edges:
            neighbours[edge.src].append(edge.dst)
            neighbours[edge.dst].append(edge.src)
        seen, waiting = set(start), list(start)
        while waiting:
            fresh = [node_id for node_id in neighbours[waiting.pop()] if node_id not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
        return seen


def _kind(node: DraftNode, ways_out: int) -> FlowNodeKind:
    if node.word == "begin":
        return "begin"
    if node.word == "end":
        return "end"
    return "decision" if ways_out > 1 else "task"
