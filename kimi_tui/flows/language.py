"""Picks the reader for a diagram's language."""

from __future__ import annotations

from kimi_tui.flows.d2 import parse_d2_flowchart
from kimi_tui.flows.graph import Flow, FlowParseError
from kimi_tui.flows.mermaid import parse_mermaid_flowchart


def parse_flow(language: str, text: str, first_line: int = 1) -> Flow:
    """The flow of a `mermaid` or `d2` diagram that starts in line `first_line` of its file. Raises FlowError."""
    if language == "mermaid":
        return parse_mermaid_flowchart(text, first_line=first_line)
    if language == "d2":
        return parse_d2_flowchart(text, first_line=first_line)
    raise FlowParseError(f"diagrams are written in mermaid or d2, not in {language}", first_line)
