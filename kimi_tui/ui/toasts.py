"""The words of toasts: what a jump, a compaction or the end of a turn is worth telling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry, SwitchView, TaskView
from kimi_tui.ui.cells import count, plural
from kimi_tui.ui.switched import switch_words
from kimi_tui.ui.text import one_line

_WORD = re.compile(r"[a-z']+[ ,:]")
_NAME = re.compile(r"\S*[./_]\S*\Z")
_ENDED = ".!?…:)。！？"

NOT_WORTH_IT = "nothing was gained: a summary of so little is as long as what it stands for"
NAME = 80
"""Signs of a command or a task that are told."""


@dataclass(frozen=True, slots=True)
class Toast:
    text: str
    severity: Literal["information", "warning", "error"] = "information"


def of(event: ev.Event, tasks: Sequence[TaskView], undo: str) -> list[Toast]:
    """What to tell about an event; `tasks` are those that were known before it, `undo` is the key that takes back."""
    if isinstance(event, ev.TasksChanged):
        return tasks_ended(tasks, event.tasks)
    note = toast(event, undo)
    return [note] if note else []


def toast(event: ev.Event, undo: str = "alt+u") -> Toast | None:
    """What to tell about an event; None for most."""
    match event:
        case ev.Noticed(text, severity, action):
            return Toast(_with_way_back(sentence(text), undo if action == "undo" else ""), severity)
        case ev.TranscriptReset(switch=SwitchView() as switch, undo=walk):
            return _jumped(switch, undo if walk else "")
        case ev.CompactionEnded("failed", message=message):
            return Toast(f"Compaction failed, nothing has changed. {message}", "error")
        case ev.CompactionEnded("nothing"):
            return Toast("There is nothing to compact yet.")
        case ev.CompactionEnded("cancelled"):
            return Toast("Compaction cancelled, nothing has changed.")
        case ev.PromptReturned(reason=reason) if reason:
            return Toast(sentence(reason), "warning")
        case ev.ModesChanged(reason=reason) if reason:
            return Toast(sentence(reason))
    return None


def sentence(text: str) -> str:
    """What the agent tells in a line, as a sentence; names of files and commands stay as they are."""
    said = text[:1].upper() + text[1:] if _WORD.match(text) else text
    return said if not said or said[-1] in _ENDED or _NAME.search(said) else f"{said}."


def tasks_ended(before: Sequence[TaskView], now: Sequence[TaskView]) -> list[Toast]:
    """What worked in the background and has ended by itself, as nobody may be looking at it."""
    running = {task.id for task in before if task.status == "running"}
    ended = (task for task in now if task.id in running and task.status in ("done", "failed", "lost"))
    return [Toast(_how(task), "information" if task.status == "done" else "warning") for task in ended]


def _how(task: TaskView) -> str:
    name = task.agent.description if task.agent else task.command
    code = f" (exit {task.exit_code})" if task.exit_code else ""
    return f"{'done' if task.status == 'done' else task.status + code}: {one_line(name)[:NAME]}"


def _with_way_back(text: str, undo: str) -> str:
    return f"{text}\n{undo} takes it back" if undo else text


def _jumped(switch: SwitchView, undo: str) -> Toast:
    title, figures = switch_words(switch)
    if switch.why == "compact":
        figures = f"{count(switch.tokens_before)} → {count(switch.tokens_after)} tokens"
        figures += f"\n{NOT_WORTH_IT}" if switch.tokens_after >= switch.tokens_before else ""
    text = f"{title[:1].upper()}{title[1:]}" + (f": {figures}" if figures else "")
    return Toast(_with_way_back(text, undo))


_ENDS = {
    "failed": "The turn failed.",
    "max_steps": "The turn was stopped: it took as many steps as are allowed.",
    "tool_call_repeat": "The turn was stopped: the same tool was called with the same arguments again and again.",
    "blocked": "A hook stopped the turn.",
}


def ended(event: ev.TurnEnded, *, walking: bool = False) -> Entry | None:
    """What the chat says about a turn that did not end well; in a flow the flow's end says that it was stopped."""
    if event.reason == "done" or (walking and event.reason == "interrupted"):
        return None
    if event.reason == "interrupted":
        return Entry("note", event.message or "stopped")
    text = event.message or _ENDS[event.reason]
    return Entry("error", f"{text}\n{event.hint}" if event.hint else text)


def unavailable(event: ev.ModelUnavailable) -> Entry:
    text = f"{event.name} cannot answer: {event.reason}"
    return Entry("error", f"{text}\n{event.hint}" if event.hint else text)


def walked(event: ev.FlowEnded) -> Entry:
    """How a flow ended, and what it took."""
    said = [plural(event.iterations, "round"), f"{count(event.tokens)} tokens"]
    cost = [f"${event.cost:.2f}"] if event.cost is not None else []
    text = " · ".join([event.message, *said, *cost])
    return Entry("note" if event.reason in ("done", "max_moves", "stopped") else "error", text)


def aside(event: ev.AsideEnded) -> Entry:
    """An answer that is shown and nowhere kept."""
    if event.fault:
        return Entry("note" if event.fault == "stopped" else "error", f"aside: {event.fault}")
    return Entry("note", f"*aside:* {event.question}\n\n{event.answer or '(no answer)'}")
