"""All hooks of a session: which of them an event concerns, and what they decided together."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.hooks.runner import HookDef, HookResult, run_hook
from kimi_tui.settings import HookEvent

log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that hooks in the background get to end in when the session is closed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the hooks of one event decided: one that forbids is enough."""

    blocked: bool = False
    reason: str = ""
    ran: int = 0


class Hooks:
    """Runs the hooks that match an event, side by side."""

    def __init__(self, hooks: Sequence[HookDef] = (), *, session_id: str = "", work_dir: Path = Path()) -> None:
        self._hooks = tuple(hooks)
        self._session_id, self._work_dir = session_id, work_dir
        self._running: set[asyncio.Task[Verdict]] = set()

    def concerned(self, event: HookEvent, about: str = "") -> list[HookDef]:
        """The hooks for this event whose matcher occurs in `about`; one command runs once."""
        matching = [hook for hook in self._hooks if hook.event == event and _matches(hook.matcher, about)]
        return list({hook.command: hook for hook in reversed(matching)}.values())[::-1]

    async def trigger(self, event: HookEvent, about: str = "", **payload: Any) -> Verdict:
        """Run them and wait. `about` is what the matcher looks at: a tool's name, a prompt, a reason."""
        hooks = self.concerned(event, about)
        if not hooks:
            return Verdict()
        body = {"hook_event_name": event, "session_id": self._session_id, "cwd": str(self._work_dir), **payload}
        runs = (run_hook(hook.command, body, timeout=hook.timeout, cwd=self._work_dir) for hook in hooks)
        return _together(await asyncio.gather(*runs))

    def fire(self, event: HookEvent, about: str = "", **payload: Any) -> None:
        """Run them in the background; nobody waits for what they say."""
        if not self.concerned(event, about):
            return
        task = asyncio.create_task(self.trigger(event, about, **payload), name=f"hook {event}")
        self._running.add(task)
        task.add_done_callback(self._done)

    async def finish(self) -> None:
        """Wait for what still runs in the background, but not for long; then end it."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=PATIENCE)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _done(self, task: asyncio.Task[Verdict]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (fault := task.exception()):
            log.warning("a hook failed", exc_info=fault)


def _together(results: Sequence[HookResult]) -> Verdict:
    first = next((result for result in results if result.blocked), None)
    return Verdict(first is not None, first.reason if first else "", len(results))


def _matches(matcher: str, about: str) -> bool:
    if not matcher:
        return True
    try:
        return re.search(matcher, about) is not None
    except re.error as fault:
        log.warning("the matcher of a hook is no regular expression: %s", fault)
        return False
