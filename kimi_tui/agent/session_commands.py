"""The session's own slash commands: what the agent carries out itself, skills and flows, prompts of servers."""

from __future__ import annotations

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.slash import COMMANDS
from kimi_tui.protocol.events import CommandsChanged
from kimi_tui.protocol.views import SlashCommand


def commands_of(desk: Desk) -> tuple[SlashCommand, ...]:
    """All of them, as they are now."""
    servers = desk.servers.commands() if desk.servers is not None else ()
    return (*COMMANDS, *desk.skills.commands(), *servers)


def keep_told(desk: Desk) -> None:
    """From now on the screen hears of it when some come, change or go."""

    def tell() -> None:
        desk.emit(CommandsChanged(commands_of(desk)))

    desk.skills.changed = tell
    if desk.servers is not None:
        desk.servers.commands_changed = tell
