"""The images of the conversation, for a screen that can show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_tui.protocol.commands import LoadImages
from kimi_tui.protocol.events import ImagesLoaded
from kimi_tui.protocol.messages import ImageURLPart, Message

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk


def load_images(agent: Agent, command: LoadImages) -> None:
    """What the user attached to a prompt, or what the tool of a card brought back."""
    message = _behind(agent.desk, command.index)
    parts = message.content if message is not None else ()
    urls = tuple(part.image_url.url for part in parts if isinstance(part, ImageURLPart))
    agent.emit(ImagesLoaded(command.index, urls))


def _behind(desk: Desk, index: int) -> Message | None:
    history, found = desk.context.history, desk.transcript.message_of(index)
    if found is None or found >= len(history):
        return None
    tool = desk.transcript.entries[index].tool
    if tool is None:
        return history[found]
    for at in range(found + 1, len(history)):
        if history[at].role != "tool":
            return None
        if history[at].tool_call_id == tool.call_id:
            return history[at]
    return None
