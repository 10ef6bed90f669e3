"""Slash commands: what is typed becomes a command for the agent or a request to the screen itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import SlashCommand
from kimi_tui.ui.state import ScreenState


@dataclass(frozen=True, slots=True)
class ForScreen:
    """The screen does this itself: `help`, `timeline`, `theme` …"""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """It cannot be done as it was typed, and why."""

    reason: str


Meaning = cmd.Command | ForScreen | Wrong

TABLE: tuple[SlashCommand, ...] = (
    SlashCommand("help", "", "keys and commands"),
    SlashCommand("new", "", "start a new session"),
    SlashCommand("clear", "", "set the conversation aside and start empty (undo brings it back)"),
    SlashCommand("compact", "[focus]", "summarise the conversation now, with a word on what to keep"),
    SlashCommand("rewind", "[N]", "go back to a checkpoint"),
    SlashCommand("undo", "", "take back the last jump in time"),
    SlashCommand("redo", "", "do it again"),
    SlashCommand("fork", "", "go on in a copy of this session"),
    SlashCommand("timeline", "", "go to the timeline"),
    SlashCommand("rotations", "", "browse the files that jumps left behind"),
    SlashCommand("context", "", "what fills the context, largest first"),
    SlashCommand("model", "[name]", "use another model"),
    SlashCommand("plan", "[on|off]", "plan mode: look, do not touch"),
    SlashCommand("yolo", "[on|off]", "approve everything without asking"),
    SlashCommand("afk", "[on|off]", "nobody is there to be asked"),
    SlashCommand("sessions", "", "pick another session", ("resume",)),
    SlashCommand("title", "<text>", "name this session"),
    SlashCommand("export", "[md|json|html] [file]", "write the conversation to a file"),
    SlashCommand("init", "", "look at the project and write AGENTS.md"),
    SlashCommand("add-dir", "<folder>", "allow a further folder"),
    SlashCommand("mcp", "", "connected tool servers"),
    SlashCommand("theme", "[name]", "choose the colours"),
    SlashCommand("cost", "", "what this session has cost"),
    SlashCommand("copy", "", "copy the last answer"),
    SlashCommand("tasks", "", "background tasks"),
    SlashCommand("todo", "", "show or fold the to-do list"),
    SlashCommand("btw", "<question>", "ask aside, without leaving a trace in the context"),
    SlashCommand("ralph", "[N] <prompt>", "repeat a prompt until the model says it is done, N rounds at most"),
    SlashCommand("flow", "", "where the running flow stands, as a graph"),
    SlashCommand("doctor", "", "check the files of this session"),
    SlashCommand("exit", "", "leave", ("quit",)),
)

_CALL = re.compile(r"/([\w?][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)
LATE = ("skill:", "flow:", "mcp:")
"""How commands begin that the agent may know by now, or finds when it looks."""
_ON = {"": None, "on": True, "off": False}


def known(state: ScreenState) -> list[SlashCommand]:
    """All commands, the session's own (skills, flows) after the built-in ones."""
    names = {command.name for command in TABLE}
    return [*TABLE, *(command for command in state.commands if command.name not in names)]


def read(text: str, state: ScreenState) -> Meaning | None:
    """What a prompt means as a command; None when it is none and is to be sent as it is."""
    called = _CALL.match(text.strip())
    if called is None:
        return None
    word, argument = called[1], (called[2] or "").strip()
    command = find(word, known(state))
    if command is None and word.startswith(LATE):
        return cmd.RunSlash(word, argument)
    if command is None:
        return Wrong(f"There is no command /{word}. Type / to see them all, or start with a blank to send it as text.")
    return _meaning(command.name, argument, state)


def find(word: str, commands: Sequence[SlashCommand]) -> SlashCommand | None:
    """By name or alias; `/flow-x` is `/flow:x`."""
    dashed = re.sub(r"^(flow|skill)-", r"\1:", word)
    return next(
        (command for command in commands if word in (command.name, *command.aliases) or command.name == dashed), None
    )


def _meaning(name: str, argument: str, state: ScreenState) -> Meaning:
    if name in _SIMPLE:
        return _SIMPLE[name]()
    if name in _WITH_ARGUMENT:
        return _WITH_ARGUMENT[name](argument)
    if name in ("plan", "yolo", "afk"):
        return _mode(name, argument, state)
    if name in _SCREEN:
        return ForScreen(name, argument)
    return cmd.RunSlash(name, argument)


def _mode(name: str, argument: str, state: ScreenState) -> Meaning:
    if argument not in _ON:
        return Wrong(f"/{name} takes on or off.")
    wanted = _ON[argument]
    now: bool = getattr(state.modes, name)
    on = (not now) if wanted is None else wanted
    match name:
        case "plan":
            return cmd.SetMode("plan", on)
        case "yolo":
            return cmd.SetMode("yolo", on)
        case _:
            return cmd.SetMode("afk", on)


def _rewind(argument: str) -> Meaning:
    if not argument:
        return ForScreen("timeline")
    if not argument.isdecimal():
        return Wrong("/rewind takes the number of a checkpoint.")
    return ForScreen("rewind", argument)


def _export(argument: str) -> Meaning:
    first, _, target = argument.partition(" ")
    match first:
        case "md" | "json" | "html":
            return cmd.ExportTimeline(format=first, target=target.strip())
        case _:
            return cmd.ExportTimeline(target=argument)


def _title(argument: str) -> Meaning:
    return cmd.SetTitle(argument) if argument else Wrong("/title needs a text.")


def _add_dir(argument: str) -> Meaning:
    return cmd.AddDir(argument) if argument else Wrong("/add-dir needs a folder.")


def _model(argument: str) -> Meaning:
    return cmd.SwitchModel(argument) if argument else ForScreen("model")


_SIMPLE: dict[str, Callable[[], cmd.Command]] = {
    "new": cmd.NewSession,
    "clear": cmd.ClearContext,
    "undo": cmd.Undo,
    "redo": cmd.Redo,
    "fork": cmd.Fork,
}
_WITH_ARGUMENT: dict[str, Callable[[str], Meaning]] = {
    "compact": cmd.Compact,
    "rewind": _rewind,
    "export": _export,
    "title": _title,
    "add-dir": _add_dir,
    "model": _model,
}
_SCREEN = frozenset(
    [
        "help",
        "timeline",
        "context",
        "rotations",
        "sessions",
        "theme",
        "cost",
        "copy",
        "exit",
        "tasks",
        "mcp",
        "todo",
        "flow",
    ]
)
