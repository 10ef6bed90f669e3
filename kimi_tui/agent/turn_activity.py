"""A turn as the agent runs it: hooks around it, faults in words, and what was queued meanwhile."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from kimi_tui.agent.compaction.compact import hint_for
from kimi_tui.agent.landing import land
from kimi_tui.agent.mentions import with_resources
from kimi_tui.agent.steering import Prompt, returned
from kimi_tui.agent.travel.rows import first_line
from kimi_tui.agent.turn import Turn
from kimi_tui.context import SessionLocked
from kimi_tui.faults import Fault
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.events import TitleChanged, TurnEnded
from kimi_tui.session import prompts_of

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

log = logging.getLogger(__name__)

TITLE_LENGTH = 60


async def run_turn(desk: Desk, prompt: Prompt) -> tuple[Turn, TurnEnded]:
    """One turn from the prompt to `TurnEnded`. Never raises; a prompt that did not get to the disk is given back."""
    turn = Turn(desk)
    ended = turn.ended("interrupted")
    try:
        ended = await _hooked(turn, prompt)
    except asyncio.CancelledError:
        ended = turn.ended("interrupted")
    except ModelFault as fault:
        ended = turn.ended("failed", str(fault), hint_for(fault))
    except Fault as fault:
        ended = turn.ended("failed", str(fault), fault.hint)
    except (OSError, SessionLocked) as fault:
        ended = turn.ended("failed", f"The session could not be written: {fault}", "What is on disk stays as it is.")
    except Exception as fault:
        log.exception("the turn broke")
        ended = turn.ended("failed", f"{type(fault).__name__}: {fault}", "The log has the details.")
    await land(_close(desk, turn, prompt, ended))
    return turn, ended


async def _hooked(turn: Turn, prompt: Prompt) -> TurnEnded:
    """The turn, if the hooks allow it; a hook may send it on once more when it wants to end."""
    hooks = turn.desk.hooks
    await turn.desk.skills.follow()
    verdict = await hooks.trigger("UserPromptSubmit", prompt.text, prompt=prompt.text)
    if verdict.blocked:
        return turn.ended("blocked", verdict.reason or "a hook blocked the prompt")
    ended = await turn.run(await with_resources(turn.desk, prompt))
    _title(turn.desk, prompt)
    verdict = await hooks.trigger("Stop", ended.reason, stop_hook_active=False)
    if verdict.blocked and verdict.reason and ended.reason == "done":
        await turn.steer(Prompt(verdict.reason))
        ended = await turn.go_on()
    return ended


async def _close(desk: Desk, turn: Turn, prompt: Prompt, ended: TurnEnded) -> None:
    desk.transcript.close_calls()
    await desk.files.turn_ended()
    await asyncio.to_thread(desk.learned.keep)
    if prompt.said and not turn.opened:
        desk.emit(returned([prompt], ended.message))
    elif prompt.said:
        await asyncio.to_thread(_remember, desk, prompt)
    if ended.reason == "failed":
        desk.hooks.fire("StopFailure", ended.reason, error_type=ended.reason, error_message=ended.message)
    if ended.reason != "done":
        desk.steering.give_back("the turn before it did not end by itself")
    desk.tell_tokens()
    desk.keep_grants()
    desk.telemetry.note("turn", steps=ended.steps, seconds=round(ended.seconds, 3), done=ended.reason == "done")
    desk.emit(ended)


def _title(desk: Desk, prompt: Prompt) -> None:
    """A session is called after its first prompt until the user names it; a compaction must not change that."""
    if desk.state.title:
        return
    desk.state.title = desk.title = desk.title or first_line(prompt.said)[:TITLE_LENGTH]
    desk.keep_state()
    desk.emit(TitleChanged(desk.title))


def _remember(desk: Desk, prompt: Prompt) -> None:
    try:
        prompts_of(desk.session.work_dir).add(prompt.said)
    except (OSError, Fault) as fault:
        log.warning("the prompt history could not be written: %s", fault)
