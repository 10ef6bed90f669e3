"""A note for the earlier point, drafted by the model from what is about to be taken back.

It is shown as it grows and stored nowhere: what the user makes of it goes along with `RevertTo`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kimi_tui.agent.compaction.condensing import Task, condense, writer_of
from kimi_tui.agent.compaction.plan import readable
from kimi_tui.agent.marks import Mark, mark_of
from kimi_tui.agent.travel.goals import Goal, find_goal
from kimi_tui.agent.travel.rows import rotation_path
from kimi_tui.context import compare, read_timeline_file
from kimi_tui.faults import Fault
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.commands import DraftNote, StopDraft
from kimi_tui.protocol.events import NoteDrafted
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk

DRAFT = "draft"
"""The task's name."""

LONGEST = 1000
"""Tokens that a note may have, at most."""

_PASSING: tuple[Mark, ...] = ("checkpoint", "reminder")


def draft_note(agent: Agent, command: DraftNote) -> None:
    """Draft beside whatever runs; there is one draft at a time."""
    agent.stop_beside(DRAFT)
    agent.beside(_Drafting(agent, command).run(), DRAFT)


def stop_draft(agent: Agent, command: StopDraft) -> None:
    agent.stop_beside(DRAFT)


class _Drafting:
    """One draft while it runs."""

    def __init__(self, agent: Agent, command: DraftNote) -> None:
        self.agent, self.desk, self.command = agent, agent.desk, command

    async def run(self) -> None:
        """Ends with one of the three last words, whatever happens."""
        try:
            text = await self._draft()
        except asyncio.CancelledError:
            self._tell(NoteDrafted(self.command.number, "stopped"))
            raise
        except (Fault, ModelFault) as fault:
            self._tell(NoteDrafted(self.command.number, "failed", message=f"{fault} {fault.hint}".strip()))
        except (ValueError, OSError) as fault:
            self._tell(NoteDrafted(self.command.number, "failed", message=str(fault)))
        else:
            self._tell(NoteDrafted(self.command.number, "done", text))

    def _tell(self, event: NoteDrafted) -> None:
        self.agent.emit(event)
        self.desk.tell_tokens()  # the call has cost something

    async def _draft(self) -> str:
        command, desk = self.command, self.desk
        if desk.summariser is None and not self.agent.readiness.ready:
            raise Fault("the model is not ready yet")
        goal = await find_goal(desk, command.checkpoint, command.file, command.offset)
        lost = await _taken_back(desk, goal)
        if not lost:
            raise ValueError("nothing would be taken back, so there is nothing to write about")
        begun = command.begun.strip()
        task = Task(
            system=prompt("draft_note_system"),
            frame=_instruction(begun),
            ask=lambda part, earlier: _request(part, earlier, begun),
            empty=ModelFault("empty", "The model wrote nothing.", hint="Try again, or write the note yourself."),
            retrying=self._waits,
            longest=LONGEST,
        )
        draft = await condense(
            desk, await writer_of(desk), lost, task, lambda draft, done, share: self._grows(draft.text)
        )
        return draft.text.strip()

    def _grows(self, text: str) -> None:
        self.agent.emit(NoteDrafted(self.command.number, "writing", text.lstrip()))

    def _waits(self, reason: str, attempt: int, attempts: int, wait: float) -> None:
        said = f"{reason.rstrip('.')}: try {attempt} of {attempts} in {wait:.0f} s"
        self.agent.emit(NoteDrafted(self.command.number, "writing", message=said))


async def _taken_back(desk: Desk, goal: Goal) -> list[Message]:
    """The messages that the agent would not know any more, without those that the program wrote."""
    if goal.file is None:
        start = goal.mark.history_index if goal.mark is not None else 0
        lost = await asyncio.to_thread(lambda: desk.context.history[start:])
    else:
        past, until = await read_timeline_file(rotation_path(desk, goal.file)), goal.mark
        found = await asyncio.to_thread(
            compare, desk.context.projection, past, right_until=until.ref if until is not None else None
        )
        lost = found.only_left
    return [message for message in lost if mark_of(message) not in _PASSING]


def _instruction(begun: str) -> str:
    text = prompt("draft_note")
    return f"{text}\n\n{prompt('draft_note_begun')}\n{begun}" if begun else text


def _request(messages: Sequence[Message], earlier: str, begun: str) -> Message:
    """One user message: what the agent will forget, then what to write about it."""
    parts = [TextPart(text=f"{prompt('draft_note_part')}\n\n{earlier}\n\n")] if earlier else []
    for message in messages:
        parts += [TextPart(text=f"## {message.role}\n"), *readable(message)]
    return Message(role="user", content=[*parts, TextPart(text=f"\n{_instruction(begun)}")])
