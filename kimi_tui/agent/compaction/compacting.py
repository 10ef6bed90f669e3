"""The user's word to compact: done now, or between two steps of the turn that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_tui.agent.compaction.compact import Compaction, hint_for
from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.commands import Compact
from kimi_tui.protocol.events import Noticed

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

COMPACT = "Compact"
"""The activity's name."""


def compact(agent: Agent, command: Compact) -> None:
    """Fold the context. A turn that runs goes on with what is left."""
    focus = command.focus.strip()
    if agent.in_turn:
        agent.desk.compact_next = focus
        agent.emit(Noticed("compacts as soon as this step is done"))
    elif agent.busy:
        agent.emit(Noticed("not while something runs: Esc stops it", "warning"))
    elif why := agent.desk.read_only:
        agent.emit(Noticed(why, "warning"))
    else:
        agent.start(compact_now(agent, focus), COMPACT)


async def compact_now(agent: Agent, focus: str) -> None:
    """Faults are told by `CompactionEnded`, and what to do about them here."""
    if not agent.readiness.ready:
        agent.emit(Noticed("the model is not ready yet", "warning"))
        return
    try:
        await Compaction(agent.desk, "manual", focus).run()
    except ModelFault as fault:
        agent.emit(Noticed(f"not compacted: {str(fault).rstrip('.')}. {hint_for(fault)}".strip(), "error"))


def compact_if_asked(agent: Agent) -> bool:
    """After a turn: what was asked for in its last step is done now. True when that is under way."""
    focus, agent.desk.compact_next = agent.desk.compact_next, None
    if focus is None:
        return False
    agent.start(compact_now(agent, focus), COMPACT)
    return True
