"""Slash commands without a screen: the screen's own reading of them, and lines where that one opens a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.ui import slash
from kimi_tui.ui.state import ScreenState

HERE: dict[str, tuple[str, str]] = {
    "restore": ("FILE", "make a rotation live again"),
    "diff": ("LEFT RIGHT", "compare two points: now, now@N, context_2.jsonl, context_2.jsonl@N"),
    "name": ("N [TEXT]", "name a checkpoint"),
    "read": ("FILE", "the conversation in a rotation"),
    "entries": ("[COUNT]", "the last entries of the conversation, with their numbers"),
    "pin": ("N", "compactions keep entry N word for word"),
    "unpin": ("N", "compactions need not keep entry N any more"),
    "drop": ("N", "take the result of the tool call in entry N out of the context"),
    "queue": ("[edit N TEXT | take N | drop N]", "what waits while a turn runs"),
    "snooze": ("", "no more warnings of a compaction until the context has grown"),
    "tasks": ("[ID | stop ID]", "background tasks, the output of one, the end of one"),
    "mcp": ("[restart NAME]", "connected tool servers"),
    "doctor": ("", "check the files of this session"),
}
"""What has keys on the screen, and so no slash command there."""

NOT_HERE = {
    "theme": "Plain mode has no colours.",
    "copy": "Plain mode leaves copying to the terminal.",
}

SETTLED: dict[type[cmd.Command], tuple[type[ev.Event], ...]] = {
    cmd.SendPrompt: (ev.TurnEnded, ev.PromptReturned),
    cmd.RunShell: (ev.ToolCallFinished,),
    cmd.RunSlash: (ev.EntryAdded, ev.TurnEnded, ev.PromptReturned, ev.FlowStarted, ev.AsideEnded),
    cmd.ReadTask: (ev.TaskRead,),
    cmd.StopTask: (ev.TasksChanged,),
    cmd.ListMcp: (ev.McpChanged,),
    cmd.RestartMcp: (ev.McpChanged,),
    cmd.PreviewRevert: (ev.RevertPreviewed,),
    cmd.RevertTo: (ev.TranscriptReset,),
    cmd.Undo: (ev.TranscriptReset,),
    cmd.Redo: (ev.TranscriptReset,),
    cmd.RestoreRotation: (ev.TranscriptReset,),
    cmd.ClearContext: (ev.TranscriptReset,),
    cmd.Compact: (ev.CompactionEnded,),
    cmd.PinEntry: (ev.EntriesChanged,),
    cmd.DropResult: (ev.TranscriptReset,),
    cmd.SnoozeCompaction: (ev.CompactionNear,),
    cmd.LoadEntries: (ev.EntriesLoaded,),
    cmd.NameCheckpoint: (ev.TranscriptReset,),
    cmd.ListRotations: (ev.RotationsListed,),
    cmd.ReadRotation: (ev.RotationRead,),
    cmd.CompareTimelines: (ev.TimelinesCompared,),
    cmd.MeasureContext: (ev.ContextMeasured,),
    cmd.NewSession: (ev.TranscriptReset,),
    cmd.OpenSession: (ev.TranscriptReset,),
    cmd.Fork: (ev.TranscriptReset,),
    cmd.ListSessions: (ev.SessionsListed,),
    cmd.ListModels: (ev.ModelsListed,),
    cmd.SwitchModel: (ev.ModesChanged,),
    cmd.SetMode: (ev.ModesChanged,),
    cmd.SetTitle: (ev.TitleChanged,),
}
"""Which event tells that a command has been carried out. A `Noticed` does for all: it says why not, or that."""


@dataclass(frozen=True, slots=True)
class Said:
    """Nothing for the agent to do: these lines are the answer."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The conversation does this itself: `timeline`, `rewind`, `sessions`, `exit`."""

    name: str
    argument: str = ""


def read(text: str, state: ScreenState) -> cmd.Command | Said | Wanted:
    """What a line of the user's means."""
    if text.startswith("!") and text[1:].strip():
        return cmd.RunShell(text[1:].strip())
    word, _, argument = text.strip().removeprefix("/").partition(" ")
    if text.startswith("/") and word in HERE:
        return _here(word, argument.strip())
    match slash.read(text, state):
        case None:
            return cmd.SendPrompt(text)
        case slash.Wrong(reason):
            return Said((reason,))
        case slash.ForScreen(name, argument):
            return _instead(name, argument, state)
        case cmd.SetMode(mode, on) if getattr(state.modes, mode) == on:
            return Said((f"{mode} is {'on' if on else 'off'} already.",))
        case command:
            return command


def _here(word: str, argument: str) -> cmd.Command | Said | Wanted:
    words = argument.split()
    match word, words:
        case "queue", _:
            return Wanted(word, argument)
        case (("tasks" | "mcp" | "doctor" | "entries"), []):
            return Wanted(word)
        case "entries", [count] if count.isdecimal():
            return Wanted(word, count)
        case (("pin" | "unpin"), [number]) if number.isdecimal():
            return cmd.PinEntry(int(number), word == "pin")
        case "drop", [number] if number.isdecimal():
            return cmd.DropResult(int(number))
        case "snooze", []:
            return cmd.SnoozeCompaction()
        case "tasks", ["stop", task]:
            return cmd.StopTask(task)
        case "tasks", [task]:
            return cmd.ReadTask(task)
        case "mcp", ["restart", server]:
            return cmd.RestartMcp(server)
        case "restore", [file]:
            return cmd.RestoreRotation(file)
        case "read", [file]:
            return cmd.ReadRotation(file)
        case "diff", [left, right]:
            return cmd.CompareTimelines(left, right)
        case "name", [number, *rest] if number.isdecimal():
            return cmd.NameCheckpoint(int(number), " ".join(rest))
    return Said((f"It is /{word} {HERE[word][0]}.",))


_ASKED: dict[str, Callable[[], cmd.Command]] = {
    "context": cmd.MeasureContext,
    "rotations": cmd.ListRotations,
    "model": cmd.ListModels,
}


def _instead(name: str, argument: str, state: ScreenState) -> cmd.Command | Said | Wanted:
    if name in _ASKED:
        return _ASKED[name]()
    if name in NOT_HERE:
        return Said((NOT_HERE[name],))
    if name == "help":
        return Said(tuple(_help(state)))
    return Wanted(name, argument)


def _help(state: ScreenState) -> Iterator[str]:
    yield "Enter sends; a backslash at the end of a line goes on in the next one. !COMMAND runs a shell command."
    yield "What you type while a turn runs joins it between two steps."
    yield "Ctrl+C stops what runs, and pressed twice leaves; so does Ctrl+D."
    for command in slash.known(state):
        if command.name not in NOT_HERE and command.name not in HERE:
            yield f"/{command.name}{f' {command.usage}' if command.usage else ''}: {command.help}"
    for name, (usage, text) in HERE.items():
        yield f"/{name}{f' {usage}' if usage else ''}: {text}"
