"""All that can be done on the main screen, for the command palette: slash commands, and the keys that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

from kimi_tui.protocol.views import SlashCommand
from kimi_tui.ui.keymap import in_force, spelled

_ELSEWHERE = {"stop", "answer", "page_up", "page_down", "palette"}
"""Keys that mean something only where one is when they are pressed, and the palette itself."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that can be done."""

    kind: Literal["run", "write", "press"]
    """A slash command that is run, one that is written into the prompt as it lacks a word, or the action of a key."""
    name: str
    about: str = ""
    key: str = ""
    does: str = ""
    """The text of the command, or the action."""


def offers(commands: list[SlashCommand], bound: Mapping[str, Binding], keys: Mapping[str, str]) -> list[Offer]:
    """`bound` are the bindings with a name, `keys` those of the config."""
    return [*map(_of_command, commands), *_of_keys(bound, keys)]


def _of_command(command: SlashCommand) -> Offer:
    name = f"/{command.name} {command.usage}".rstrip()
    if command.usage.startswith("<"):
        return Offer("write", name, command.help, does=f"/{command.name} ")
    return Offer("run", name, command.help, does=f"/{command.name}")


def _of_keys(bound: Mapping[str, Binding], keys: Mapping[str, str]) -> list[Offer]:
    return [
        Offer("press", found.description, key=spelled(in_force(found, keys)), does=found.action)
        for name, found in bound.items()
        if name not in _ELSEWHERE and found.show and found.description
    ]
