"""What widgets and screens ask of the app; it bubbles up to where the agent is known."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kimi_tui.protocol.commands import Command


@dataclass
class Submit(Message):
    """Hand this command to the agent."""

    command: Command


@dataclass
class Do(Message):
    """A request to the app itself: `help`, `theme`, `exit` …"""

    name: str
    argument: str = ""
