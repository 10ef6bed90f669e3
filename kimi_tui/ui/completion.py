"""What can be completed where the cursor stands: a command at the start, a file or a server's resource after `@`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kimi_tui.protocol.views import ResourceView, SlashCommand
from kimi_tui.ui.fuzzy import cost, pattern

_COMMAND = re.compile(r"/([\w:.-]*)\Z")
BEST_FILES = 5
"""Before resources of servers, as a list that is open shows a few rows only."""
MOST_RESOURCES = 20
_MENTION = re.compile(r"(?:^|(?<=[\s(\[]))@(\"[^\"\n]*|[^\s\"]*)\Z")


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


def mentioned(text: str) -> tuple[int, str] | None:
    """Where the `@` stands and what follows it; `text` ends at the cursor."""
    found = _MENTION.search(text)
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


def resources(start: int, query: str, known: Iterable[ResourceView]) -> list[Suggestion]:
    """Resources of servers whose address or name matches; without anything typed they would hide the files."""
    if not query:
        return []
    found = {f"{one.server}:{one.uri}": one for one in known if _can_be_typed(one)}
    ranked = sorted(
        (min(cost(query, text) for text in (address, one.name) if pattern(query).search(text)), address)
        for address, one in found.items()
        if pattern(query).search(address) or pattern(query).search(one.name)
    )
    return [
        Suggestion(address, _other_words(found[address]), _mention(address), start)
        for _, address in ranked[:MOST_RESOURCES]
    ]


def together(query: str, files: list[Suggestion], resources: list[Suggestion]) -> list[Suggestion]:
    """Files are meant most often, but not with a colon in what is typed; the best of both can be seen."""
    first = 0 if ":" in query else BEST_FILES
    return [*files[:first], *resources, *files[first:]]


def still_good(start: int, query: str, known: Iterable[Suggestion]) -> list[Suggestion]:
    """Of those that were found for less, the ones that match what is typed by now."""
    return [one for one in known if one.start == start and pattern(query).search(one.label)]


def _can_be_typed(one: ResourceView) -> bool:
    """An address with parts that are left open has to be typed by hand."""
    return '"' not in one.server + one.uri and one.uri.isprintable() and "{" not in one.uri


def _other_words(one: ResourceView) -> str:
    return "" if one.name == one.uri else one.name


def _mention(name: str) -> str:
    quoted = f'@"{name}"' if " " in name else f"@{name}"
    return quoted if name.endswith("/") else f"{quoted} "
