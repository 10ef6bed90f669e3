"""Loops and graphs that the agent walks by itself: what a flow is, how diagrams become one, how it is run."""

from kimi_tui.flows.choice import match_choice, parse_choice
from kimi_tui.flows.d2 import parse_d2_flowchart
from kimi_tui.flows.graph import (
    Flow,
    FlowEdge,
    FlowError,
    FlowNode,
    FlowNodeKind,
    FlowParseError,
    FlowValidationError,
    node_text,
    validate_flow,
)
from kimi_tui.flows.language import parse_flow
from kimi_tui.flows.mermaid import parse_mermaid_flowchart
from kimi_tui.flows.ralph import ralph_flow
from kimi_tui.flows.runner import FlowEnd, FlowOutcome, FlowProgress, FlowRunner, RunTurn, TurnResult

__all__ = [
    "Flow",
    "FlowEdge",
    "FlowEnd",
    "FlowError",
    "FlowNode",
    "FlowNodeKind",
    "FlowOutcome",
    "FlowParseError",
    "FlowProgress",
    "FlowRunner",
    "FlowValidationError",
    "RunTurn",
    "TurnResult",
    "match_choice",
    "node_text",
    "parse_choice",
    "parse_d2_flowchart",
    "parse_flow",
    "parse_mermaid_flowchart",
    "ralph_flow",
    "validate_flow",
]
