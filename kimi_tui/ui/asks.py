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
class Edit(Message):
    """Open a text in the user's editor; with `keep` what was written goes into the prompt."""

    text: str
    keep: bool


@dataclass
class Do(Message):
    """A request to the app itself: `help`, `theme`, `exit` …"""

    name: str
    argument: str = ""
