"""What a subagent does, told as part of the card of the call that it works for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kimi_tui.agent.travel.rows import first_line
from kimi_tui.protocol.events import (
    CompactionEnded,
    Event,
    MessageStored,
    Noticed,
    RetryScheduled,
    StepStarted,
    SubagentChanged,
    TokensChanged,
    ToolCallFinished,
    ToolCallStarted,
)
from kimi_tui.protocol.views import SubagentView, ToolView


class Nested:
    """Takes the subagent's events in place of a screen. Lines go to the card, and wherever else `also` says."""

    def __init__(self, view: SubagentView, emit: Callable[[Event], None], say: Callable[[str], None]) -> None:
        self.view, self._emit, self._say_to = view, emit, [say]
        self.change()

    def also(self, say: Callable[[str], None]) -> None:
        """Have the lines told there, too."""
        self._say_to.append(say)

    def change(self, **fields: Any) -> None:
        """Tell what it is now."""
        self.view = replace(self.view, **fields)
        self._emit(SubagentChanged(self.view))

    def take(self, event: Event) -> None:
        match event:
            case StepStarted():
                self.change(steps=self.view.steps + 1, doing="waiting for the model")
            case ToolCallStarted(tool):
                self.change(doing=f"{tool.verb} {tool.subject}".strip())
            case ToolCallFinished(tool):
                self._say(f"{line_of_call(tool)}\n")
                self.change(tool_calls=self.view.tool_calls + 1)
            case MessageStored(entries=entries) if any(entry.kind == "tool" for entry in entries):
                for entry in entries:
                    if entry.kind == "assistant":
                        self._say(f"{first_line(entry.text)}\n")
            case TokensChanged(tokens):
                self.change(tokens=tokens)
            case RetryScheduled(reason, attempt, attempts):
                self._say(f"{reason}: try {attempt} of {attempts}\n")
            case CompactionEnded("done", before, after):
                self._say(f"compacted {before} to {after} tokens\n")
            case Noticed(text, severity):
                self._emit(Noticed(f"{self.view.description}: {text}", severity))

    def _say(self, text: str) -> None:
        for say in self._say_to:
            say(text)


def line_of_call(tool: ToolView) -> str:
    """A call that has ended, as a line of a card."""
    brief = tool.brief or ("" if tool.outcome == "ok" else tool.outcome)
    return "  ".join(filter(None, (f"{tool.verb} {first_line(tool.subject)}".rstrip(), brief)))
