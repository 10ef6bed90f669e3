"""A word ahead of time: the context will soon be compacted by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kimi_tui.protocol.commands import SnoozeCompaction
from kimi_tui.protocol.events import CompactionNear

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.protocol.views import Tokens

SNOOZE = 0.05
"""Share of the window by which the context must grow before a warning that was put off comes again."""


@dataclass(slots=True)
class Nearness:
    """What has been said of it. `look` returns what is to be said now, if anything."""

    said: bool = False
    quiet_below: int = 0
    """Put off until the context has this many tokens."""

    def look(self, tokens: Tokens, warns: int) -> CompactionNear | None:
        """`warns`: the count from which on it is near; 0 for never."""
        near = bool(warns) and tokens.total >= max(warns, self.quiet_below)
        if not warns or tokens.total < warns:
            self.quiet_below = 0
        if near == self.said:
            return None
        self.said = near
        return CompactionNear(tokens.total, tokens.trigger if near else 0)

    def snooze(self, tokens: Tokens) -> CompactionNear:
        """Not now: again when there is some more, and in any case before it happens."""
        more = max(1, int(tokens.window * SNOOZE))
        last_call = tokens.trigger - more // 4
        self.quiet_below = tokens.total + more if tokens.total >= last_call else min(tokens.total + more, last_call)
        self.said = False
        return CompactionNear(tokens.total, 0)


def snooze(agent: Agent, command: SnoozeCompaction) -> None:
    agent.emit(agent.desk.nearness.snooze(agent.desk.tokens()))
