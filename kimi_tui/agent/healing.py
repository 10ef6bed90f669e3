"""Calls that a killed program left without a result: answered on disk before the session goes on."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.protocol.messages import Message
from kimi_tui.tools.base import ToolResult
from kimi_tui.tools.results import to_message

ENDED = "Interrupted: the program ended while this call was under way. What it had already done stays done."


def missing_results(history: Sequence[Message]) -> list[Message]:
    """Results for the calls of the newest answer that have none; nothing when anything was said after it."""
    answered: set[str | None] = set()
    for index in range(len(history) - 1, -1, -1):
        message = history[index]
        if message.role != "tool":
            break
        answered.add(message.tool_call_id)
    else:
        return []
    waiting = [call for call in message.tool_calls or () if call.id not in answered]
    return [
        to_message(call.id, ToolResult(outcome="interrupted", message=ENDED, brief="interrupted")) for call in waiting
    ]
