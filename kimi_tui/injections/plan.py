"""Keeps a model in plan mode (MECHANISMS M19): the rules in full first, then short reminders at intervals.

How long ago the last reminder was is read from the history, so that a revert, a D-Mail or a compaction that removes
a reminder also removes the memory of having given it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from kimi_tui.injections.newest import Newest
from kimi_tui.injections.provider import DynamicInjection, DynamicInjectionProvider, StepView
from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

TURN_INTERVAL = 5
"""Assistant messages between two reminders."""

FULL_EVERY = 5
"""Every so many reminders, the rules are given in full again."""


class PlanInjectionProvider(DynamicInjectionProvider):
    """Reminds the root agent, while plan mode is on."""

    def __init__(self) -> None:
        self._given = 0
        self._reminders: Newest[bool] = Newest(is_reminder)

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        if not view.plan:
            self._given = 0
            return []
        newest = await self._reminders.find(history)
        if view.plan_activated or newest is None:
            return self._full(view)
        if not _interval_is_over(history, newest[0]):
            return []
        self._given += 1
        return [_injection("plan", full_reminder if self._given % FULL_EVERY == 1 else sparse_reminder, view)]

    def _full(self, view: StepView) -> list[DynamicInjection]:
        self._given = 1
        if view.plan_activated and view.plan_file and view.plan_file.exists():
            return [_injection("plan_reentry", reentry_reminder, view)]
        return [_injection("plan", full_reminder, view)]


def _injection(kind: str, reminder: Callable[[Path | None], str], view: StepView) -> DynamicInjection:
    """Who is away is not to be asked, whatever the rules say otherwise."""
    text = reminder(view.plan_file)
    return DynamicInjection(kind, f"{text}\n\n{prompt('plan_away')}" if view.afk else text)


def _interval_is_over(history: Sequence[Message], start: int) -> bool:
    """Whether enough assistant messages came after that one."""
    answers = (index for index in range(start + 1, len(history)) if history[index].role == "assistant")
    return next(islice(answers, TURN_INTERVAL - 1, None), None) is not None


def full_reminder(plan_file: Path | None = None) -> str:
    """The rules of plan mode, with where the plan goes."""
    return "\n\n".join((prompt("plan_full"), _whereabouts(plan_file)))


def sparse_reminder(plan_file: Path | None = None) -> str:
    """One paragraph: the mode is still on."""
    return " ".join((prompt("plan_sparse"), _whereabouts(plan_file)))


def reentry_reminder(plan_file: Path | None = None) -> str:
    """The rules for coming back to a plan that exists already."""
    return "\n\n".join((prompt("plan_full"), prompt("plan_reentry"), _whereabouts(plan_file)))


def _whereabouts(plan_file: Path | None) -> str:
    if plan_file is None:
        return "No file may be changed."
    state = "it exists: read it before you change it" if plan_file.exists() else "it does not exist yet: create it"
    return f"Plan file: {plan_file} ({state}). It is the only file that may be written."


def is_reminder(message: Message) -> bool | None:
    """True for a reminder of this kind, full or short; else None."""
    keys = _beginnings() if message.role == "user" else ()
    texts = [part.text for part in message.content if isinstance(part, TextPart)] if keys else []
    return True if any(key in text for text in texts for key in keys) else None


@cache
def _beginnings() -> tuple[str, ...]:
    return prompt("plan_full").partition("\n")[0], prompt("plan_sparse").partition(".")[0]
