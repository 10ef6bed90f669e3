"""What can be completed where the cursor stands: a command at the start, a file after `@`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kimi_tui.protocol.views import SlashCommand
from kimi_tui.ui.fuzzy import cost, pattern

_COMMAND = re.compile(r"/([\w:.-]*)\Z")
_FILE = re.compile(r"(?:^|(?<=[\s(\[]))@(\"[^\"\n]*|[^\s\"]*)\Z")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One candidate: what is shown, and what takes the place of the characters from `start` to the cursor."""

    label: str
    detail: str
    insert: str
    start: int
    complete: bool = False
    """Nothing needs to be added: Enter may send it at once."""


def command_word(text: str) -> str | None:
    """The command that is being typed, without its slash; `text` ends at the cursor."""
    found = _COMMAND.fullmatch(text)
    return found[1] if found else None


def file_word(text: str) -> tuple[int, str] | None:
    """Where the `@` stands and what follows it; `text` ends at the cursor."""
    found = _FILE.search(text)
    return (found.start(), found[1].strip('"')) if found else None


def commands(word: str, known: Sequence[SlashCommand]) -> list[Suggestion]:
    """Matching commands, by name or alias."""
    named = {name: command for command in known for name in (command.name, *command.aliases)}
    ranked = sorted(filter(pattern(word).search, named), key=lambda name: cost(word, name)[0])
    found = dict.fromkeys(named[name].name for name in ranked)
    return [_command(named[name]) for name in found]


def _command(command: SlashCommand) -> Suggestion:
    usage = f" {command.usage}" if command.usage else ""
    needs_more = command.usage.startswith("<")
    insert = f"/{command.name}" + (" " if usage else "")
    return Suggestion(f"/{command.name}{usage}", command.help, insert, 0, complete=not needs_more)


def files(start: int, found: Iterable[str]) -> list[Suggestion]:
    """Found paths as suggestions; a folder stays open for more, a name with blanks is put into quotes."""
    return [Suggestion(name, "", _mention(name), start) for name in found]


def _mention(name: str) -> str:
    quoted = f'@"{name}"' if " " in name else f"@{name}"
    return quoted if name.endswith("/") else f"{quoted} "
