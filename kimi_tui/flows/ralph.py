"""The Ralph loop as a flow of four nodes: BEGIN → R1 → R2, and from R2 back to itself or to END."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_tui.flows.graph import Flow, FlowEdge, FlowNode
from kimi_tui.flows.wording import ralph_question

if TYPE_CHECKING:
    from kimi_tui.protocol.messages import ContentPart, Message

CONTINUE, STOP = "CONTINUE", "STOP"


def ralph_flow(message: str | Message) -> Flow:
    """R1 is the user's prompt as it is, images included; R2 repeats its text and asks whether it is done."""
    task, label = _texts(message)
    nodes = [
        FlowNode("BEGIN", "BEGIN", "begin"),
        FlowNode("END", "END", "end"),
        FlowNode("R1", label, "task"),
        FlowNode("R2", ralph_question(task.strip()), "decision"),
    ]
    edges = [
        FlowEdge("BEGIN", "R1", None),
        FlowEdge("R1", "R2", None),
        FlowEdge("R2", "R2", CONTINUE),
        FlowEdge("R2", "END", STOP),
    ]
    outgoing = {node.id: [edge for edge in edges if edge.src == node.id] for node in nodes}
    return Flow({node.id: node for node in nodes}, outgoing, begin_id="BEGIN", end_id="END")


def _texts(message: str | Message) -> tuple[str, str | list[ContentPart]]:
    """The task in words, and what stands for it: the words again, or all parts when some are no text."""
    if isinstance(message, str):
        return message, message
    words = message.text(" ")
    return words, words if all(part.type == "text" for part in message.content) else list(message.content)
