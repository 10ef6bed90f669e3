"""What the model is told while it walks a flow. The sentences stand in `prompts/`."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from kimi_tui.flows.graph import FlowEdge, FlowNode, node_text
from kimi_tui.resources import prompt

_SHOWN = 60


def ralph_question(task: str) -> str:
    return Template(prompt("ralph")).substitute(task=task)


def decision_question(node: FlowNode, edges: Sequence[FlowEdge]) -> str:
    """The node's text, its ways out, and how to answer."""
    names = choices(edges)
    listed = "\n".join(f"- {name}" for name in names)
    return Template(prompt("flow_decision")).substitute(
        question=node_text(node), choices=listed, example=names[0] if names else ""
    )


def ask_again(edges: Sequence[FlowEdge], said: str | None) -> str:
    """A short reminder; the question itself is in the context already."""
    fault = "holds no <choice>…</choice>" if said is None else f"chose «{shorten(said)}», which is not offered"
    lines = "\n".join(f"<choice>{name}</choice>" for name in choices(edges))
    return Template(prompt("flow_ask_again")).substitute(fault=fault, choices=lines)


def choices(edges: Sequence[FlowEdge]) -> list[str]:
    return [edge.label.strip() for edge in edges if edge.label and edge.label.strip()]


def shorten(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"
