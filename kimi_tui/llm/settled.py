"""How much of a history looks the same in every later request, whatever will be said after it."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.llm.history import says_something
from kimi_tui.protocol.messages import ImageURLPart, Message


def settled_length(history: Sequence[Message]) -> int:
    """How many messages from the start are settled: each call has its result right after it, and the last of them is
    neither a user's, which may be merged with the next, nor a result with images, which are said by the next."""
    settled = 0
    waiting: list[str] = []
    pictures = False
    for index, message in enumerate(history, 1):
        if message.role == "tool":
            if not message.tool_call_id or message.tool_call_id not in waiting:
                break
            waiting.remove(message.tool_call_id)
            pictures = pictures or any(isinstance(part, ImageURLPart) for part in message.content)
        elif waiting:
            break
        else:
            waiting, pictures = [call.id for call in message.tool_calls or ()], False
        if not (waiting or pictures) and _stands_alone(message):
            settled = index
    return settled


def _stands_alone(message: Message) -> bool:
    return message.role == "tool" or (message.role == "assistant" and says_something(message))
