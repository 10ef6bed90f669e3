"""`/btw`: a question beside the conversation. One call with all that was said; nothing of it is stored."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from kimi_tui.agent.marks import system_note
from kimi_tui.agent.stream import Draft
from kimi_tui.llm.model import ModelFault, Request
from kimi_tui.llm.retry import Restart, stream_with_retry
from kimi_tui.protocol.events import AsideEnded, AsideStarted, Noticed
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk


def ask_aside(agent: Agent, question: str) -> None:
    """Ask it at once, also while a turn runs."""
    if not question:
        agent.emit(Noticed("/btw needs a question", "warning"))
    elif not agent.readiness.ready:
        agent.emit(Noticed("the model is not ready yet", "warning"))
    else:
        agent.beside(_answered(agent.desk, question), ASIDE)


ASIDE = "aside"
"""The name of the task: what Esc stops when nothing else runs."""


async def _answered(desk: Desk, question: str) -> None:
    desk.emit(AsideStarted(question))
    try:
        ended = AsideEnded(question, await _answer(desk, question))
    except ModelFault as fault:
        ended = AsideEnded(question, fault=f"{fault} {fault.hint}".strip())
    except asyncio.CancelledError:
        desk.emit(AsideEnded(question, fault="stopped"))
        raise
    desk.emit(ended)
    desk.tell_tokens()


async def _answer(desk: Desk, question: str) -> str:
    asked = Message(role="user", content=[system_note(prompt("aside")), TextPart(text=question)])
    request = Request(desk.system_prompt, [*desk.context.history, asked])
    draft = Draft()
    pieces = stream_with_retry(desk.model, request, desk.loop.retry, lambda *retry: None)
    async with aclosing(pieces) as stream:
        async for piece in stream:
            if isinstance(piece, Restart):
                draft.clear()
            else:
                draft.add(piece)
    if draft.usage:
        desk.spent(draft.usage)
    return draft.text.strip()
