"""When the user looks elsewhere: what is worth a bell and a notification, and how a terminal is told."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.protocol import events as ev
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.state import ScreenState
from kimi_tui.ui.text import one_line

LONG = 10.0
"""Seconds of a turn after which its end is worth a word to somebody who looks elsewhere."""
VERY_LONG = 120.0
"""The same where the terminal does not tell whether it is looked at."""

PUSH_TITLE, POP_TITLE = "\x1b[22;0t", "\x1b[23;0t"


def worth_a_bell(event: ev.Event, *, looking: bool) -> str:
    """What to notify about, in a few words; empty for nothing."""
    match event:
        case ev.TurnEnded(reason=reason, seconds=seconds) if seconds >= (VERY_LONG if looking else LONG):
            return "done" if reason == "done" else f"the turn ended: {reason.replace('_', ' ')}"
        case ev.ApprovalRequested(approval) if not looking:
            return f"wants to {one_line(approval.action)}"
        case ev.QuestionAsked() if not looking:
            return "has a question"
    return ""


def heading(state: ScreenState, marks: Marks) -> str:
    """`▸ Fix the parser – kimi-tui`: whether it works (▸), waits for an answer (?) or broke, and on what."""
    if not state.opened:
        return "kimi-tui"
    sign = "?" if state.questions else marks.bad if state.failed else marks.running if state.busy else ""
    return f"{sign} {state.title or Path(state.work_dir).name} – kimi-tui".strip()


def title(text: str) -> str:
    """Sets the title of the window."""
    return f"\x1b]2;{one_line(text)[:120]}\x07"


def notification(text: str) -> str:
    """Bell and desktop notification (OSC 9)."""
    return f"\x07\x1b]9;kimi-tui {one_line(text)[:200]}\x07"
