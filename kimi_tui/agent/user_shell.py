"""`!command`: run by the user, shown in the chat, and told to the model with the next prompt."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kimi_tui.agent.landing import land
from kimi_tui.agent.marks import system_note
from kimi_tui.agent.travel.moves import shown_anew
from kimi_tui.agent.travel.rows import newest_checkpoint
from kimi_tui.protocol.events import EntryAdded, ToolCallFinished, ToolCallStarted, ToolOutputDelta
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.protocol.views import Entry, ToolView
from kimi_tui.resources import prompt
from kimi_tui.tools.base import CallInterrupted
from kimi_tui.tools.command import Ended, run_command
from kimi_tui.tools.output import CommandOutput

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

LONGEST = 3600.0
"""Seconds; Esc ends a command at any time."""


async def run_for_user(desk: Desk, command: str) -> None:
    """Run it, then store command and output as one message from the program to the model."""
    view = ToolView(f"user-shell-{time.monotonic_ns()}", "!", "You ran", command)
    desk.emit(EntryAdded(len(desk.transcript.entries), Entry("tool", tool=view, at=desk.clock())))
    desk.emit(ToolCallStarted(view))
    output = CommandOutput(lambda text: desk.emit(ToolOutputDelta(view.call_id, text)), None)
    begun = time.monotonic()
    try:
        ended = await run_command(command, desk.session.work_dir, LONGEST, output)
    except CallInterrupted as stop:
        ended = Ended(None, stop.output)
        raise asyncio.CancelledError from None
    except (OSError, ValueError) as fault:
        ended = Ended(None, f"could not be started: {fault}")
    finally:
        await land(_keep(desk, view, ended, time.monotonic() - begun))


async def _keep(desk: Desk, view: ToolView, ended: Ended, seconds: float) -> None:
    brief = "interrupted" if ended.code is None else f"exit {ended.code}"
    outcome: Any = "ok" if ended.code == 0 else "error"
    desk.emit(ToolCallFinished(replace(view, outcome=outcome, brief=brief, output=ended.text, seconds=seconds)))
    note = f"{prompt('shell_note')}\n$ {view.subject}"
    message = Message(
        role="user",
        content=[system_note(note), TextPart(text=f"{ended.text}\n({brief})")],
        kt={"at": round(desk.clock(), 3), "outcome": outcome, "brief": brief, "seconds": round(seconds, 3)},
    )
    moved = await desk.begin()
    await desk.context.append_message(message)
    desk.transcript.add(message, checkpoint=newest_checkpoint(desk.context))
    desk.tell_tokens()
    if moved:
        await shown_anew(desk)
