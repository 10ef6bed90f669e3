"""Slash commands that the agent carries out; the screen handles the others by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_tui.agent.steering import Prompt
from kimi_tui.protocol.commands import RunSlash
from kimi_tui.protocol.events import EntryAdded, Noticed
from kimi_tui.protocol.views import Entry, SlashCommand
from kimi_tui.resources import prompt

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

COMMANDS = (
    SlashCommand("init", "/init", "Look at the project and write an AGENTS.md for it"),
    SlashCommand("stats", "/stats", "What this program did so far: turns, steps, tokens, compactions"),
)


def run_slash(agent: Agent, command: RunSlash) -> None:
    """Do what a slash command says; one that is unknown is named, never sent to the model."""
    if command.name == "init":
        agent.send(Prompt(f"{prompt('init')}\n\n{command.argument}".strip()))
    elif command.name == "stats":
        agent.emit(EntryAdded(None, Entry("note", _stats(agent))))
    else:
        agent.emit(Noticed(f"there is no command /{command.name}", "warning"))


def _stats(agent: Agent) -> str:
    totals = agent.desk.telemetry.summary()
    lines = [
        f"{event}: " + ", ".join(f"{name} {value:,.10g}" for name, value in numbers.items())
        for event, numbers in sorted(totals.items())
    ]
    return "\n".join(lines) or "Nothing has been counted yet."
