"""Keeps a model in plan mode (MECHANISMS M19): the rules in full first, then short reminders at intervals.

How long ago the last reminder was is read from the history, so that a revert, a D-Mail or a compaction that removes
a reminder also removes the memory of having given it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        if not view.plan:
            self._given = 0
            return []
        since = assistant_messages_since_reminder(history)
        if view.plan_activated or since is None:
            return self._full(view)
        if since < TURN_INTERVAL:
            return []
        self._given += 1
        if self._given % FULL_EVERY == 1:
            return [DynamicInjection("plan", full_reminder(view.plan_file))]
        return [DynamicInjection("plan", sparse_reminder(view.plan_file))]

    def _full(self, view: StepView) -> list[DynamicInjection]:
        self._given = 1
        if view.plan_activated and view.plan_file and view.plan_file.exists():
            return [DynamicInjection("plan_reentry", reentry_reminder(view.plan_file))]
        return [DynamicInjection("plan", full_reminder(view.plan_file))]


def assistant_messages_since_reminder(history: Sequence[Message]) -> int | None:
    """How many assistant messages came after the newest plan reminder; None when there is none."""
    since = 0
    for message in reversed(history):
        if message.role == "user" and _is_reminder(message):
            return since
        since += message.role == "assistant"
    return None


def full_reminder(plan_file: Path | None = None) -> str:
    """The rules of plan mode, with where the plan goes."""
    return "\n\n".join((prompt("plan_full"), _whereabouts(plan_file)))


def sparse_reminder(plan_file: Path | None = None) -> str:
    """One paragraph: the mode is still on."""
    return " ".join((prompt("plan_sparse"), _whereabouts(plan_file)))


def reentry_reminder(plan_file: Path) -> str:
    """The rules for coming back to a plan that exists already."""
    return "\n\n".join((prompt("plan_full"), prompt("plan_reentry"), _whereabouts(plan_file)))


def _whereabouts(plan_file: Path | None) -> str:
    if plan_file is None:
        return "No file may be changed."
    state = "it exists: read it before you change it" if plan_file.exists() else "it does not exist yet: create it"
    return f"Plan file: {plan_file} ({state}). It is the only file that may be written."


def _is_reminder(message: Message) -> bool:
    keys = (prompt("plan_full").partition("\n")[0], prompt("plan_sparse").partition(".")[0])
    return any(isinstance(part, TextPart) and any(key in part.text for key in keys) for part in message.content)
