"""What makes a graph a flow that can be walked."""

from __future__ import annotations

import itertools

import pytest

from kimi_tui.flows import (
    FlowEdge,
    FlowError,
    FlowNode,
    FlowNodeKind,
    FlowParseError,
    FlowValidationError,
    node_text,
    validate_flow,
)
from kimi_tui.protocol.messages import ImageURLPart, TextPart

Edges = dict[str, list[FlowEdge]]


def nodes(**kinds: FlowNodeKind) -> dict[str, FlowNode]:
    return {name: FlowNode(name, name.lower(), kind) for name, kind in kinds.items()}


def edges(*triples: tuple[str, str, str | None]) -> Edges:
    outgoing: Edges = {}
    for src, dst, label in triples:
        outgoing.setdefault(src, []).append(FlowEdge(src, dst, label))
    return outgoing


def faults(found: dict[str, FlowNode], outgoing: Edges) -> tuple[str, ...]:
    with pytest.raises(FlowValidationError) as caught:
        validate_flow(found, outgoing)
    assert str(caught.value) == "; ".join(caught.value.faults)
    return caught.value.faults


def test_a_straight_line_from_begin_to_end_is_valid() -> None:
    straight = edges(("A", "B", None), ("B", "C", None))
    assert validate_flow(nodes(A="begin", B="task", C="end"), straight) == ("A", "C")


def test_a_flow_needs_one_begin_and_one_end() -> None:
    assert faults(nodes(A="task"), {}) == (
        "there is no BEGIN node (a node whose label is BEGIN)",
        "there is no END node (a node whose label is END)",
    )
    assert faults(nodes(A="begin", B="begin", C="end", D="end"), edges(("A", "C", None), ("B", "D", None))) == (
        "there must be one BEGIN node, found 2: A, B",
        "there must be one END node, found 2: C, D",
        "END (D) cannot be reached from BEGIN (A)",
        "END (C) cannot be reached from BEGIN (B)",
    )


def test_the_end_must_be_reachable() -> None:
    assert faults(nodes(A="begin", B="task", C="end"), edges(("A", "B", None), ("C", "B", None))) == (
        "END (C) cannot be reached from BEGIN (A)",
    )


def test_several_ways_out_need_labels_of_their_own() -> None:
    found = nodes(A="begin", B="decision", C="task", D="end")
    ways = edges(("A", "B", None), ("B", "C", " "), ("B", "D", "go"), ("B", "B", " go"), ("C", "D", None))
    assert faults(found, ways) == (
        '"B" has 3 ways out, so each needs a label; one has none',
        '"B" has more than one way out with the label "go"',
    )


def test_an_edge_must_lead_somewhere() -> None:
    found = nodes(A="begin", D="end")
    assert faults(found, edges(("A", "D", "x"), ("A", "nowhere", "y"))) == (
        'an edge of "A" leads to "nowhere", which does not exist',
    )


def test_nodes_that_are_never_reached_may_look_as_they_like() -> None:
    found = nodes(A="begin", B="end", note="task")
    outgoing = edges(("A", "B", None), ("note", "A", None), ("note", "B", None))
    assert validate_flow(found, outgoing) == ("A", "B")


def test_a_chain_of_twenty_thousand_nodes_needs_no_deep_stack() -> None:
    kinds = {f"n{i}": FlowNode(f"n{i}", "x", "task") for i in range(20_000)}
    kinds |= {"A": FlowNode("A", "BEGIN", "begin"), "Z": FlowNode("Z", "END", "end")}
    names = ["A", *(f"n{i}" for i in range(20_000)), "Z"]
    outgoing = edges(*((src, dst, None) for src, dst in itertools.pairwise(names)))
    assert validate_flow(kinds, outgoing) == ("A", "Z")


def test_every_fault_of_a_flow_is_one_family_of_errors() -> None:
    assert issubclass(FlowParseError, FlowError) and issubclass(FlowValidationError, FlowError)
    assert issubclass(FlowError, ValueError)
    assert str(FlowParseError("what is this", 7)) == "Line 7: what is this"


def test_a_label_of_parts_is_read_as_its_text() -> None:
    parts = [
        TextPart(text="look at"),
        ImageURLPart.model_validate({"image_url": {"url": "data:x"}}),
        TextPart(text="this"),
    ]
    assert node_text(FlowNode("R1", parts, "task")) == "look at this"
    assert node_text(FlowNode("A", "go", "task")) == "go"
