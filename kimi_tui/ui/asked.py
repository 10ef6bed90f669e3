"""How a screen asks for something: it posts `Asked(command)`, the app submits the command to the agent.

The other way round the app hands every event to `take(event)` of the screens on its stack that listen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from textual.message import Message
from textual.widget import Widget

from kimi_tui.protocol.commands import Command
from kimi_tui.protocol.events import Event


@dataclass
class Asked(Message):
    """A screen or widget wants this of the agent."""

    command: Command


def ask(widget: Widget, command: Command) -> None:
    """Straight to the app: a screen may be gone before a message of its own has bubbled up."""
    widget.app.post_message(Asked(command))


@runtime_checkable
class Listens(Protocol):
    """A screen that is told what happens."""

    def take(self, event: Event) -> None: ...
