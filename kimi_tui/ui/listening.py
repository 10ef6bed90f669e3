"""How a screen over the chat talks with the agent.

It asks with `ask`, and hears of every event in `take`: the app hands each one to the screens on its stack that listen.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from textual.widget import Widget

from kimi_tui.protocol.commands import Command
from kimi_tui.protocol.events import Event
from kimi_tui.ui.asks import Submit


def ask(widget: Widget, command: Command) -> None:
    """Straight to the app: a screen may be gone before a message of its own has bubbled up."""
    widget.app.post_message(Submit(command))


@runtime_checkable
class Listens(Protocol):
    """A screen that is told what happens."""

    def take(self, event: Event) -> None: ...
