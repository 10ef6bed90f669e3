"""Has the model write a summary of messages, to take their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kimi_tui.agent.compaction.condensing import Task, condense, reply_limit, writer_of
from kimi_tui.agent.compaction.plan import instruction, request, summary_message
from kimi_tui.agent.desk import Desk
from kimi_tui.agent.marks import unwrapped
from kimi_tui.agent.stream import Draft
from kimi_tui.context import estimate_text_tokens
from kimi_tui.llm.model import ModelFault, Usage
from kimi_tui.protocol.events import RetryScheduled
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

Written = Callable[[int, "float | None"], None]
"""Told as the summary grows: tokens so far, and the share of the work that is done, where it can be told."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The message that stands for what was folded, and what it cost."""

    message: Message
    usage: Usage | None

    @property
    def tokens(self) -> int:
        return self.usage.output if self.usage else estimate_text_tokens([self.message])


def edited(summary: Summary, text: str) -> Summary:
    """The summary as the user has rewritten it; an empty text changes nothing."""
    text = text.strip()
    if not text or text == unwrapped(summary.message):
        return summary
    return Summary(summary_message([TextPart(text=text)]), None)


async def summarise(desk: Desk, messages: Sequence[Message], focus: str, written: Written) -> Summary:
    """Fold these messages into one. Raises ModelFault when the model cannot; never tries for ever."""
    model = await writer_of(desk)
    small = model.view.embedded
    expected = min(reply_limit(model.view.window) or 2000, 1500)

    def watch(draft: Draft, done: float, share: float) -> None:
        tokens = draft.length // 4
        written(tokens, done + share * min(0.95, tokens / expected))

    task = Task(
        system=prompt("compact_system"),
        frame=instruction(focus, small=small),
        ask=lambda part, earlier: request(part, focus, _as_summary(earlier), small=small),
        empty=ModelFault("empty", "The model wrote no summary.", hint="Try /compact again, or another model."),
        retrying=lambda *retry: desk.emit(RetryScheduled(*retry)),
    )
    draft = await condense(desk, model, messages, task, watch)
    return Summary(summary_message(draft.parts), draft.usage)


def _as_summary(text: str) -> str:
    return summary_message([TextPart(text=text)]).text("\n") if text else ""
